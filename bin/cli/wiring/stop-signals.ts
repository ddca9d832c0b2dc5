// The signals that stop the program: the first one in good order, a second Ctrl-C at once.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { EXIT } from "../output/exit-code.ts";

/** Ctrl-C; a service or container that stops; a closed terminal or connection. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * One Ctrl-C may arrive twice, from the terminal and from npm, which passes it on; a closed terminal sends SIGHUP
 * once or more. A signal so soon after the first one is the same request.
 */
const SAME_REQUEST_MS = 500;

export interface StopSignalsOptions {
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
        stop.abort(stoppedBy(signal));
      } else if (signal !== "SIGHUP" && elapsedMs() - firstAtMs >= SAME_REQUEST_MS) {
        process.exit(EXIT.interrupted);
      }
    });
  }
  return stop.signal;
}

function stoppedBy(signal: string): SyncError {
  return new SyncError(
    "INTERRUPTED",
    `Stopped by ${signal}. A run keeps what it has fetched: the next one resumes there.`,
  );
}
