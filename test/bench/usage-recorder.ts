// Loaded before a measured program (`node --import`): at its exit writes its use of processor and memory to a file.

import { writeFileSync } from "node:fs";

export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  /** The part of `cpuMs` of the main thread, where JavaScript runs. */
  readonly mainThreadMs: number;
  readonly peakRssMib: number;
}

/** The environment variable with the path of that file. */
export const USAGE_FILE = "BENCH_USAGE_FILE";

const file = process.env[USAGE_FILE];
if (file !== undefined) {
  process.once("exit", () => {
    const usage: Usage = {
      cpuMs: total(process.cpuUsage()),
      mainThreadMs: total(process.threadCpuUsage()),
      peakRssMib: process.resourceUsage().maxRSS / 1_024,
    };
    writeFileSync(file, JSON.stringify(usage));
  });
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
