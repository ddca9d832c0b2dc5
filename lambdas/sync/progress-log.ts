// Says once a minute how far the collection is, so that a log that is read while it grows shows that it grows.

import type { Clock } from "../host/clock.ts";
import type { Logger } from "../host/logger.ts";
import type { Progress } from "../run/run-host.ts";

const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let toldAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < toldAtMs + EVERY_MS) return;
    toldAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}
