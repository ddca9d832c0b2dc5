// The time an invocation has: how much is left for units of work, and the signal that ends what outlasts it.

import type { Context } from "aws-lambda";
import { SyncError } from "../job/errors/sync-error.ts";

/** Enough to free the lease, write the run log and send the news before Lambda ends the process. */
const CLOSING_MS = 10_000;

export interface TimeLimit extends Disposable {
  readonly timeLeftMs: () => number;
  /** Aborts with `INTERRUPTED` shortly before the end. */
  readonly signal: AbortSignal;
}

/** Real time, not the run's clock: Lambda knows no other. */
export function timeLimit(context: Pick<Context, "getRemainingTimeInMillis">): TimeLimit {
  const timeLeftMs = (): number => context.getRemainingTimeInMillis();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(interrupted()), Math.max(0, timeLeftMs() - CLOSING_MS));
  return { timeLeftMs, signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

function interrupted(): SyncError {
  return new SyncError(
    "INTERRUPTED",
    "The time limit of the invocation came in the middle of a step. What is fetched is kept: the next start of this run continues from there. If it happens again, the service answers too slowly, or its budget is too small for this many events.",
  );
}
