// Where a process runs: a laptop, where another process can be found to be gone, or the function, which has a time limit.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Timeline } from "../time/timeline.ts";
import type { SimProcess } from "./sim-process.ts";

export type Host = Pick<RunPorts, "process" | "isGone" | "signal"> &
  Partial<Pick<RunPorts, "timeLeftMs" | "requestId">>;

const LAPTOP = "laptop";
/** What the function keeps for freeing the lease, the run log and the event. */
const CLOSING_MS = 10_000;

export function laptopHost(nth: number, isDead: (pid: number) => boolean): Host {
  return {
    process: { host: LAPTOP, pid: nth },
    isGone: ({ host, pid }) => host === LAPTOP && pid !== undefined && isDead(pid),
    signal: new AbortController().signal,
  };
}

/** The platform ends the process at its limit, whatever it does then. */
export function functionHost(
  process: SimProcess,
  timeline: Timeline,
  { timeLimitMs, requestId }: { readonly timeLimitMs: number; readonly requestId: string },
): Host {
  const endMs = timeline.nowMs + timeLimitMs;
  const stop = new AbortController();
  timeline.at(endMs - CLOSING_MS, () =>
    process.whenRunning(() => stop.abort(new SyncError("INTERRUPTED", "The simulated time limit is near."))),
  );
  timeline.at(endMs, () => process.kill());
  return {
    process: {},
    isGone: () => false,
    signal: stop.signal,
    timeLeftMs: () => endMs - timeline.nowMs,
    requestId,
  };
}
