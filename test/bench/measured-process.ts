// Runs a program in a separate process and measures it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import type { ServiceProcess } from "./service-process.ts";
import { USAGE_FILE, type Usage } from "./usage-recorder.ts";

const USAGE_RECORDER = new URL("usage-recorder.ts", import.meta.url);

export interface MeasuredRun extends Usage {
  /** From the first request, as the service sees it, to the exit of the process. */
  readonly wallMs: number;
  readonly requests: number;
}

export interface Program {
  readonly path: string;
  readonly args: readonly string[];
}

/** `folder` holds the files of the measurement. If the program fails, throws with its output. */
export async function measure(
  { path, args }: Program,
  service: ServiceProcess,
  folder: string,
): Promise<MeasuredRun> {
  await service.reset();
  const recorder = await writeRecorder(folder);
  const usageFile = join(folder, "usage.json");
  const child = spawn(process.execPath, ["--import", recorder, path, ...args], {
    cwd: folder,
    env: environment(usageFile),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const [exitCode] = await once(child, "exit");
  const endedAtMs = Date.now();
  if (exitCode !== 0) throw new Error(`${path} ended with exit code ${exitCode}:\n${output}`);
  const usage: Usage = JSON.parse(await readFile(usageFile, "utf8"));
  const { firstRequestAtMs, requests } = await service.report();
  return { ...usage, wallMs: endedAtMs - firstRequestAtMs, requests };
}

/** As JavaScript, because Node.js would load its compiler of TypeScript into the measured process. */
async function writeRecorder(folder: string): Promise<string> {
  const { code } = await transform(await readFile(USAGE_RECORDER, "utf8"), { loader: "ts" });
  const path = join(folder, "usage-recorder.mjs");
  await writeFile(path, code);
  return path;
}

function environment(usageFile: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BRAND_"));
  return { ...Object.fromEntries(inherited), [USAGE_FILE]: usageFile };
}
