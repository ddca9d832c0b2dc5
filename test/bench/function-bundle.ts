// The function's bundle: its size, and what importing it takes in a fresh process, as at a cold start.

import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { FUNCTION_BUNDLE } from "../../lib/compute/function-bundle.ts";
import { compare, type TargetCheck } from "./check-target.ts";
import { median } from "./median.ts";

export interface BundleFigures {
  readonly bytes: number;
  /** Processor time of all threads. */
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly check: TargetCheck;
}

const ROOT = join(import.meta.dirname, "../..");
const MOST_MS = 120;

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
    const file = join(folder, "index.mjs");
    await bundle(file);
    const imports: { readonly wallMs: number; readonly cpuMs: number }[] = [];
    for (let round = 0; round < rounds; round += 1) imports.push(await measureImport(file));
    const cpuMs = median(imports.map((one) => one.cpuMs));
    const wallMs = median(imports.map((one) => one.wallMs));
    const { size: bytes } = await stat(file);
    return { bytes, cpuMs, wallMs, check: compare("CPU ≤", MOST_MS, cpuMs, " ms") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** As the CDK does. */
async function bundle(outfile: string): Promise<void> {
  const { entry, target, mainFields, banner, http } = FUNCTION_BUNDLE;
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target,
    mainFields: [...mainFields],
    banner: { js: banner },
    minifySyntax: true,
    alias: { "node:http": join(ROOT, http) },
    logLevel: "warning",
  });
}

async function measureImport(file: string): Promise<{ readonly wallMs: number; readonly cpuMs: number }> {
  const args = ["--input-type=module", "--eval", PROGRAM, pathToFileURL(file).href];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  return JSON.parse(stdout);
}
