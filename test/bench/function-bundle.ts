// The function's bundle: its size, and what importing it takes in a fresh process, as at a cold start.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { bundleFunction, FUNCTION_FILE } from "../../lib/compute/bundle-function.ts";
import { compare, type TargetCheck } from "./check-target.ts";
import { median } from "./median.ts";

export interface BundleFigures {
  readonly bytes: number;
  /** Processor time of all threads. */
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly check: TargetCheck;
}

const MOST_MS = 200;

const PROGRAM = `
const cpu = process.cpuUsage();
const startedAtMs = performance.now();
await import(process.argv[1]);
const wallMs = performance.now() - startedAtMs;
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));
`;

export async function measureBundle(rounds: number): Promise<BundleFigures> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-bundle-"));
  try {
    bundleFunction(folder);
    const file = join(folder, FUNCTION_FILE);
    const imports: { readonly wallMs: number; readonly cpuMs: number }[] = [];
    for (let round = 0; round < rounds; round += 1) imports.push(await measureImport(file));
    const cpuMs = median(imports.map((one) => one.cpuMs));
    const wallMs = median(imports.map((one) => one.wallMs));
    const bytes = await sizeOf(folder);
    return { bytes, cpuMs, wallMs, check: compare("CPU ≤", MOST_MS, cpuMs, " ms") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureImport(file: string): Promise<{ readonly wallMs: number; readonly cpuMs: number }> {
  const args = ["--input-type=module", "--eval", PROGRAM, pathToFileURL(file).href];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  return JSON.parse(stdout);
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
