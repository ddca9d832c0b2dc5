// Runs the command line as a person does: a process of its own, its output and its exit code.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Simulator } from "../simulator/simulator.ts";

/** Spares each process what the one before has compiled. */
const NODE_COMPILE_CACHE = join(tmpdir(), "brand-events-compile-cache");
const SYNC = fileURLToPath(new URL("../../bin/sync.ts", import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface StartOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a TypeScript program in `cwd` with no `BRAND_` variable but those given. */
export function start(program: string, args: readonly string[], { cwd, env = {} }: StartOptions): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BRAND_"));
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.stderr += chunk;
  });
  const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal, ...said }));
  return { process: child, ended };
}

export function startSync(args: readonly string[], options: StartOptions): Started {
  return start(SYNC, args, options);
}

export function sync(args: readonly string[], options: StartOptions): Promise<Ended> {
  return startSync(args, options).ended;
}

/** Writes the account's credentials where the command line looks for them. */
export async function writeCredentials(directory: string, simulator: Simulator): Promise<string> {
  const file = join(directory, "credentials.json");
  const credentials = { method: "session", ...simulator.credentials };
  await writeFile(file, JSON.stringify(credentials), { mode: 0o600 });
  return file;
}

/** The options that point the command line at a simulated service without limits. */
export function against(simulator: Simulator): readonly string[] {
  const unlimited = ["--requests-per-minute", "unlimited", "--bytes-per-minute", "unlimited"];
  return ["--base-url", simulator.url, ...unlimited];
}

/** The last line of stdout, which `--json` promises. */
export function lastJson({ stdout }: Ended): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}
