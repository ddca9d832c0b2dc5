// Waits for the person's answer, and not for ever.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";

const WAIT_MINUTES = 10;

export interface WaitForAnswerOptions {
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** Throws `AUTHORIZATION_EXPIRED` after ten minutes, and `INTERRUPTED` when the program is stopped. */
export async function waitForAnswer<T>(
  answer: Promise<T>,
  { clock, signal }: WaitForAnswerOptions,
): Promise<T> {
  const over = new AbortController();
  const timeOut = clock
    .sleep(WAIT_MINUTES * 60_000, AbortSignal.any([signal, over.signal]))
    .then(() => tooLate())
    .catch((error: unknown) => (signal.aborted ? stopped() : error));
  try {
    return await Promise.race([
      answer,
      timeOut.then((error) => {
        throw error;
      }),
    ]);
  } finally {
    over.abort();
  }
}

export function stopped(): SyncError {
  return new SyncError("INTERRUPTED", "Stopped before the authorization was complete. Nothing was stored.");
}

function tooLate(): SyncError {
  return new SyncError(
    "AUTHORIZATION_EXPIRED",
    `No answer came in ${WAIT_MINUTES} minutes. Nothing was stored. Start authorize again. If the browser ended at a page that it could not open, its machine is not this one: add --paste. If the identity provider showed an error, ask its operator whether client_id and --redirect-uri are registered as you gave them.`,
  );
}
