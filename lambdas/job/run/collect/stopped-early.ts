// A run that stops at the edge of a unit of work, with everything staged, because it should not work on now.

import { SyncError } from "../../errors/sync-error.ts";

export interface EarlyStop {
  readonly reason: "TIME_LIMIT" | "BUDGET";
  /** What is done, in words: "812 of 2000 events are staged". */
  readonly soFar: string;
  /** How long the budget gives nothing useful, in milliseconds; 0 where only the time is over. */
  readonly waitMs: number;
}

/** Retryable: the next start of the run resumes it. */
export class StoppedEarly extends SyncError {
  readonly stop: EarlyStop;

  constructor(stop: EarlyStop) {
    const { reason, soFar, waitMs } = stop;
    const why =
      reason === "TIME_LIMIT"
        ? "The time limit is near"
        : `The budget gives too few requests for ${Math.ceil(waitMs / 1_000)} s`;
    super(
      "INTERRUPTED",
      `${why}, so the run stops here: ${soFar}. What is staged is kept, and the next start of this run resumes there.`,
    );
    this.stop = stop;
  }
}
