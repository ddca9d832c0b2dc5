// The time limit of an invocation: the time left for units of work, and the signal that aborts a unit at its end.

import type { Context } from "aws-lambda";
import { SyncError } from "../job/errors/sync-error.ts";

/** Enough to free the lease, write the run log and send metrics and event before Lambda ends the process. */
const CLOSING_MS = 10_000;

export interface TimeLimit extends Disposable {
  readonly timeLeftMs: () => number;
  /** Aborts with `INTERRUPTED` shortly before the end. */
  readonly signal: AbortSignal;
}

/** In real time, not by the run's clock: Lambda's limit is in real time. */
export function timeLimit(context: Pick<Context, "getRemainingTimeInMillis">): TimeLimit {
  const timeLeftMs = (): number => context.getRemainingTimeInMillis();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(interrupted()), Math.max(0, timeLeftMs() - CLOSING_MS));
  return { timeLeftMs, signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

function interrupted(): SyncError {
  return new SyncError(
    "INTERRUPTED",
    "The time limit of the invocation was reached in the middle of a step. Fetched events are kept: the next start of this run resumes it. If this happens again, the service responds too slowly, or its budget is too small for this many events.",
  );
}
