// Loaded before a measured program (`node --import`): at its exit writes its use of processor and memory to a file.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";

export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  /** The part of `cpuMs` up to the first connection that the program opens. */
  readonly startUpCpuMs: number;
  readonly peakRssMib: number;
}

/** The environment variable with the path of that file. */
export const USAGE_FILE = "BENCH_USAGE_FILE";

/** Node.js tells it of each connection. */
const CONNECTIONS = "net.client.socket";

const file = process.env[USAGE_FILE];
if (file !== undefined) {
  let startUpCpuMs = Number.NaN;
  const onConnection = (): void => {
    startUpCpuMs = total(process.cpuUsage());
    unsubscribe(CONNECTIONS, onConnection);
  };
  subscribe(CONNECTIONS, onConnection);
  process.once("exit", () => {
    const usage: Usage = {
      cpuMs: total(process.cpuUsage()),
      startUpCpuMs,
      peakRssMib: process.resourceUsage().maxRSS / 1_024,
    };
    writeFileSync(file, JSON.stringify(usage));
  });
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
