// The time limit of an invocation: the time left, and the signal that aborts what is in flight near its end.

import type { Context } from "aws-lambda";
import { SyncError } from "../job/errors/sync-error.ts";

/** Enough to free the lease, write the run log and send metrics and event before Lambda ends the process. */
const CLOSING_MS = 10_000;
/** The same, and to wait for what is in flight. */
const RESERVE_MS = 30_000;

export interface TimeLimit extends Disposable {
  readonly timeLeftMs: () => number;
  /** What no request is sent in, and no step begun. */
  readonly reserveMs: number;
  /** Aborts with `INTERRUPTED` shortly before the end. */
  readonly signal: AbortSignal;
}

/** In real time, not by the run's clock: Lambda's limit is in real time. */
export function timeLimit(context: Pick<Context, "getRemainingTimeInMillis">): TimeLimit {
  const timeLeftMs = (): number => context.getRemainingTimeInMillis();
  const limitMs = timeLeftMs();
  const { reserveMs, closingMs } = timeKept(limitMs);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(interrupted()), Math.max(0, limitMs - closingMs));
  return { timeLeftMs, reserveMs, signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** What is kept of a time limit. Half of a short one is for work, too. */
export function timeKept(limitMs: number): { readonly reserveMs: number; readonly closingMs: number } {
  return { reserveMs: Math.min(RESERVE_MS, limitMs / 2), closingMs: Math.min(CLOSING_MS, limitMs / 4) };
}

function interrupted(): SyncError {
  return new SyncError(
    "INTERRUPTED",
    "The time limit of the invocation was reached in the middle of a step. Fetched events are kept: the next start of this run resumes it. If this happens again, the service responds too slowly, or its budget is too small for this many events.",
  );
}
