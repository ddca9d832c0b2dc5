// Waits between a failed attempt and the next, counts and logs it; or ends the run when no attempt is left.

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { permanentProblem } from "./connection-problem.ts";
import { attemptsExhausted, describeFailure, type Failure } from "./failure.ts";
import { ATTEMPTS } from "./retry.ts";
import type { ServiceCounters } from "./service-counters.ts";
import type { Wait, WaitReporter } from "./wait-reporter.ts";

export interface BackOffOptions {
  readonly waitReporter: WaitReporter;
  readonly counters: ServiceCounters;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface FailedAttempt {
  readonly request: string;
  readonly url: URL;
  readonly failure: Failure;
  /** How many attempts the request has used, this one included. */
  readonly failures: number;
  readonly delayMs: number;
  readonly waitsFor: Wait["kind"];
}

/** Throws `SERVICE_UNAVAILABLE` or `THROTTLED` after the last attempt or if no retry can succeed, or the signal's reason. */
export async function backOff(
  attempt: FailedAttempt,
  { waitReporter, counters, clock, logger }: BackOffOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { request, failure, failures, delayMs, waitsFor } = attempt;
  const permanent =
    failure.kind === "no-response" ? permanentProblem(attempt, failure, counters.hasResponded) : undefined;
  if (permanent !== undefined) throw permanent;
  if (failures >= ATTEMPTS) throw attemptsExhausted(request, failure);
  counters.add("retries");
  const seconds = (delayMs / 1_000).toFixed(delayMs < 100 ? 2 : 1);
  logger.debug(`${request}: ${describeFailure(failure)}; next attempt in ${seconds} s`, {
    request,
    failures,
    delayMs,
  });
  const untilMs = clock.monotonicMs() + delayMs;
  await waitReporter.during(
    waitsFor,
    () => untilMs,
    () => clock.sleep(delayMs, signal),
  );
}
