// Where a process runs: a laptop, where another process can be found to be gone, or the function, which has a time limit.

import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import { timeKept } from "../../../lambdas/sync/handle-request.ts";
import type { Timeline } from "../time/timeline.ts";
import type { SimProcess } from "./sim-process.ts";

export type Host = Pick<RunPorts, "process" | "isGone" | "signal"> &
  Partial<Pick<RunPorts, "timeLeftMs" | "reserveMs" | "requestId" | "executions">>;

const LAPTOP = "laptop";

export function laptopHost(nth: number, isDead: (pid: number) => boolean): Host {
  return {
    process: { host: LAPTOP, pid: nth },
    isGone: ({ host, pid }) => host === LAPTOP && pid !== undefined && isDead(pid),
    signal: new AbortController().signal,
  };
}

export interface FunctionOptions {
  readonly timeLimitMs: number;
  readonly requestId: string;
  readonly executions: RunPorts["executions"];
}

/** The platform ends the process at its limit, whatever it does then. */
export function functionHost(
  process: SimProcess,
  timeline: Timeline,
  { timeLimitMs, requestId, executions }: FunctionOptions,
): Host {
  const endMs = timeline.nowMs + timeLimitMs;
  const { reserveMs, closingMs } = timeKept(timeLimitMs);
  const stop = new AbortController();
  timeline.at(endMs - closingMs, () =>
    process.whenRunning(() =>
      stop.abort(new process.job.SyncError("INTERRUPTED", "The simulated time limit is near.")),
    ),
  );
  timeline.at(endMs, () => process.kill());
  return {
    process: {},
    isGone: () => false,
    signal: stop.signal,
    timeLeftMs: () => endMs - timeline.nowMs,
    reserveMs,
    executions,
    requestId,
  };
}
