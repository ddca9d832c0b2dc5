// Runs a program in a separate process and measures it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceProcess } from "./service-process.ts";
import { USAGE_FILE, type Usage } from "./usage-recorder.ts";

const USAGE_RECORDER = new URL("usage-recorder.ts", import.meta.url).href;

export interface MeasuredRun extends Usage {
  /** From the start of the process to the first request. */
  readonly startUpMs: number;
  /** From the first request, as the service sees it, to the exit of the process. */
  readonly wallMs: number;
  readonly requests: number;
  readonly throttled: number;
  /** Of the simulated service, while the program ran. */
  readonly serviceCpuMs: number;
}

export interface Program {
  /** Relative to this file. */
  readonly path: string;
  readonly args: readonly string[];
  readonly nodeOptions: readonly string[];
}

/** `folder` holds the files of the measurement. If the program fails, throws with its output. */
export async function measure(
  { path, args, nodeOptions }: Program,
  service: ServiceProcess,
  folder: string,
): Promise<MeasuredRun> {
  await service.reset();
  const usageFile = join(folder, "usage.json");
  const startedAtMs = Date.now();
  const child = spawn(
    process.execPath,
    [...nodeOptions, "--import", USAGE_RECORDER, fileURLToPath(new URL(path, import.meta.url)), ...args],
    { cwd: folder, env: environment(usageFile), stdio: ["ignore", "pipe", "pipe"] },
  );
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
  const { firstRequestAtMs, requests, throttled, cpuMs } = await service.report();
  return {
    ...usage,
    startUpMs: firstRequestAtMs - startedAtMs,
    wallMs: endedAtMs - firstRequestAtMs,
    requests,
    throttled,
    serviceCpuMs: cpuMs,
  };
}

function environment(usageFile: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BRAND_"));
  return { ...Object.fromEntries(inherited), [USAGE_FILE]: usageFile };
}
