// Whether a process of this computer still exists, so that a run need not wait for a dead one's lease.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Holder } from "../../../lambdas/job/run/lease/lease-file.ts";
import { EXIT } from "../output/exit-code.ts";

/** Identifies a process beyond its host's name and its id, which two containers may share. */
type Identity = Required<Pick<Holder, "boot_id" | "pid_namespace" | "start_ticks">>;

export function thisProcess(): Omit<Holder, "token"> {
  return { host: hostname(), pid: process.pid, ...identity() };
}

/**
 * True only if the process ran on this computer since its last start, among the processes that this one can see, and no
 * longer exists. Only Linux says all that; elsewhere a process is never known to be gone.
 */
export function isGone({ host, pid, boot_id, pid_namespace, start_ticks }: Holder): boolean {
  const own = identity();
  if (own === undefined || pid === undefined || start_ticks === undefined) return false;
  if (host !== hostname() || boot_id !== own.boot_id || pid_namespace !== own.pid_namespace) return false;
  if (!exists(pid)) return true;
  const found = statOf(pid);
  if (found === undefined) return false;
  return found.hasEnded || found.startTicks !== start_ticks; // another process has its id now
}

/** Undefined where the system does not say all of it: outside Linux, or with a /proc of another process namespace. */
function identity(): Identity | undefined {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    const boot_id = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const start_ticks = statOf(process.pid)?.startTicks;
    if (boot_id === "" || start_ticks === undefined) return undefined;
    return { boot_id, pid_namespace: readlinkSync("/proc/self/ns/pid"), start_ticks };
  } catch {
    return undefined;
  }
}

/** /proc may hide the processes of other users, so it is not asked. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

interface Stat {
  /** A process keeps its id until its parent asks how it ended: its state is Z, and its last thread has ended. */
  readonly hasEnded: boolean;
  readonly startTicks: string;
}

/** Fields 3, 20 and 22 of proc_pid_stat(5), counted after the name, which may hold spaces and brackets. */
function statOf(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, threads, startTicks] = [fields[0], fields[17], fields[19]];
    return startTicks === undefined
      ? undefined
      : { hasEnded: state === "Z" && Number(threads) <= 1, startTicks };
  } catch {
    return undefined;
  }
}

/** Ctrl-C; a service or container that stops; a closed terminal or connection. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * One Ctrl-C may arrive twice, from the terminal and from npm, which passes it on; a closed terminal sends SIGHUP
 * once or more. A signal so soon after the first one is the same request.
 */
const SAME_REQUEST_MS = 500;

interface StopSignalsOptions {
  readonly process: {
    on(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
    exit(code: number): unknown;
  };
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number;
}

/** Aborts with `INTERRUPTED` at the first signal. A later SIGINT or SIGTERM ends the process without cleaning up. */
export function stopSignals({ process, elapsedMs }: StopSignalsOptions): AbortSignal {
  const stop = new AbortController();
  let firstAtMs: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (firstAtMs === undefined) {
        firstAtMs = elapsedMs();
        stop.abort(new SyncError("INTERRUPTED", `Stopped by ${signal}.`));
      } else if (signal !== "SIGHUP" && elapsedMs() - firstAtMs >= SAME_REQUEST_MS) {
        process.exit(EXIT.interrupted);
      }
    });
  }
  return stop.signal;
}
