// The programs to compare: the command line, built as it is installed, and the bare loop.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildProgram } from "../../bin/build-program.ts";
import packageJson from "../../package.json" with { type: "json" };
import type { ServiceAddress } from "./bench-service.ts";
import type { Program } from "./measured-process.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Below the folder with the packages that a build finds beside it, and not in `dist`, which belongs to the user. */
const BUILT = join(ROOT, "node_modules/.cache/brand-events-sync");

/** Of both programs. */
const CONNECTIONS = 32;

/** Returns the path of the command line as it is installed. */
export async function buildForBench(): Promise<string> {
  buildProgram(BUILT);
  await writeFile(join(BUILT, "package.json"), JSON.stringify({ type: "module" }));
  return join(BUILT, `${packageJson.name}.js`);
}

export interface JobFiles {
  readonly warehouse: string;
  readonly credentials: string;
}

/** A run of the command line at `path`. */
export function jobProgram(
  path: string,
  { url }: ServiceAddress,
  { warehouse, credentials }: JobFiles,
): Program {
  const limits = ["--requests-per-minute", "unlimited", "--bytes-per-minute", "unlimited"];
  const files = ["--warehouse", warehouse, "--credentials", credentials];
  const concurrency = ["--concurrency", String(CONNECTIONS)];
  return { path, args: ["run", "--base-url", url, ...concurrency, ...limits, ...files, "--json"] };
}

export function bareLoopProgram({ url, credentials }: ServiceAddress): Program {
  const path = join(import.meta.dirname, "bare-loop.ts");
  return { path, args: [JSON.stringify({ url, ...credentials, connections: CONNECTIONS })] };
}

/** Returns the path for the job's `--credentials`. */
export async function writeCredentials(folder: string, { credentials }: ServiceAddress): Promise<string> {
  const file = join(folder, "credentials.json");
  await writeFile(file, JSON.stringify({ method: "session", ...credentials }), { mode: 0o600 });
  return file;
}
