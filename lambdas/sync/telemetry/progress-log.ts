// Says once a minute how far the collection is, so that a log that is read while it grows shows that it grows.

import type { Progress } from "../../job/run/run-ports.ts";
import type { Clock } from "../../job/runtime/clock.ts";
import type { Logger } from "../../job/runtime/logger.ts";

const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let toldAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < toldAtMs + EVERY_MS) return;
    toldAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}
