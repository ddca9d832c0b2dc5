// Logs once a minute how many events are done, so that a person who follows the log sees progress.

import type { Progress } from "../../job/run/run-ports.ts";
import type { Clock } from "../../job/runtime/clock.ts";
import type { Logger } from "../../job/runtime/logger.ts";

const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let loggedAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < loggedAtMs + EVERY_MS) return;
    loggedAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}
