// The two programs to compare: the command line, and the bare loop.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobOptions } from "./bench-case.ts";
import type { ServiceAddress } from "./bench-service.ts";
import type { Program } from "./measured-process.ts";

export interface JobFiles {
  readonly warehouse: string;
  readonly credentials: string;
}

/** The command line as `npm run sync` starts it. */
export async function jobProgram(
  { url }: ServiceAddress,
  job: JobOptions,
  { warehouse, credentials }: JobFiles,
): Promise<Program> {
  const limits = ["--requests-per-minute", String(job.requestsPerMinute), "--bytes-per-minute", "unlimited"];
  const files = ["--warehouse", warehouse, "--credentials", credentials];
  const concurrency = ["--concurrency", String(job.connections)];
  return {
    path: "../../bin/sync.ts",
    args: ["run", "--base-url", url, ...concurrency, ...limits, ...files, "--json"],
    nodeOptions: await syncNodeOptions(),
  };
}

/** The options between `node` and the program in package.json. */
async function syncNodeOptions(): Promise<readonly string[]> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts }: { scripts: { sync: string } } = JSON.parse(text);
  return scripts.sync.split(" ").slice(1, -1);
}

export function bareLoopProgram({ url, credentials }: ServiceAddress, { connections }: JobOptions): Program {
  return {
    path: "bare-loop.ts",
    args: [JSON.stringify({ url, ...credentials, connections })],
    nodeOptions: [],
  };
}

/** Returns the path for the job's `--credentials`. */
export async function writeCredentials(folder: string, { credentials }: ServiceAddress): Promise<string> {
  const file = join(folder, "credentials.json");
  await writeFile(file, JSON.stringify({ method: "session", ...credentials }), { mode: 0o600 });
  return file;
}
