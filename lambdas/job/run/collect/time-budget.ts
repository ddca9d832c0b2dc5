// Time. A start sends requests until its time limit is near, or until the budget has nothing to give for a long time. And
// how long a run takes within its budget, said before a long one, with what would make it shorter.

import { type Advice, advise, inOrder, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { BudgetUse, RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { countText, remainingText } from "../record/texts.ts";
import type { HostPorts, RunPorts } from "../run-ports.ts";

/** For what is in flight, and for what follows: records, run log, lease, event. */
const RESERVE_MS = 30_000;

const LOOK_AHEAD = 1_000;

/** A minute. A pause within a window of a minute is never longer, because the limiter rounds instants up by one. */
const LONG_PAUSE_MS = 60_001;

type PausingBudget = Pick<RateLimiter, "waitMs" | "waiting" | "detailsPerWindow" | "windowMs">;

export interface EarlyStop {
  readonly reason: "TIME_LIMIT" | "BUDGET";
  /** How long the budget gives nothing useful, in milliseconds; 0 where only the time is over. */
  readonly waitMs: number;
}

type TimeLimit = Pick<HostPorts, "timeLeftMs" | "reserveMs">;
/** The part of a host that says when to stop. */
export type TimePorts = TimeLimit & Pick<HostPorts, "signal">;

/** The time that is left before the reserve, in milliseconds; without a time limit it is infinite. */
export function workMs({ timeLeftMs, reserveMs = RESERVE_MS }: TimeLimit): number {
  return timeLeftMs === undefined ? Number.POSITIVE_INFINITY : timeLeftMs() - reserveMs;
}

/**
 * For what reads for long and records nothing: throws the signal's reason, or `INTERRUPTED` where the time limit is near.
 * @param message what a person should do instead
 */
export function checkTimeLeft(ports: TimePorts, message: () => string): void {
  ports.signal.throwIfAborted();
  if (workMs(ports) < 0) throw new SyncError("INTERRUPTED", message());
}

export class TimeBudget {
  readonly #limit: TimeLimit;
  readonly #budget: PausingBudget | undefined;

  /** @param budget where something else than this process can wait for its long pauses */
  constructor(limit: TimeLimit, budget?: PausingBudget) {
    this.#limit = limit;
    this.#budget = budget;
  }

  /**
   * Why nothing more should be begun now; undefined where it should.
   * @param neededMs for what cannot be continued, beside the reserve
   * @param requests those that cannot
   */
  stop(neededMs = 0, requests = 1): EarlyStop | undefined {
    if (workMs(this.#limit) < neededMs) return { reason: "TIME_LIMIT", waitMs: 0 };
    if (this.#budget === undefined || longPauseMs(this.#budget, requests) === 0) return undefined;
    // Pauses that follow soon are waited for together.
    return { reason: "BUDGET", waitMs: longPauseMs(this.#budget, Math.max(requests, LOOK_AHEAD)) };
  }

  /**
   * Throws `StoppedEarly` where the time limit is too near for a step that sends no request.
   * @param soFar what is done, in words: "all 812 events are staged"
   */
  checkTime(soFar: string, neededMs = 0): void {
    if (workMs(this.#limit) < neededMs) throw new StoppedEarly({ reason: "TIME_LIMIT", waitMs: 0 }, soFar);
  }
}

/**
 * In how many milliseconds the last pause of more than a minute is over that lies ahead of so many more details; 0 where
 * there is none. Counts no more details than an empty window gives: pauses between windows cannot be avoided.
 */
export function longPauseMs(limiter: PausingBudget, requests: number): number {
  if (limiter.windowMs < LONG_PAUSE_MS || limiter.detailsPerWindow === Number.POSITIVE_INFINITY) return 0;
  const next = Math.min(requests + limiter.waiting, limiter.detailsPerWindow);
  let beforeMs = 0;
  let endMs = 0;
  for (let n = 1; n <= next; n += 1) {
    const ms = limiter.waitMs(n);
    if (ms - beforeMs > LONG_PAUSE_MS) endMs = ms;
    beforeMs = ms;
  }
  return endMs;
}

/** A run stops, with everything finished staged, because it should not work on now. Retryable: the next start resumes it. */
export class StoppedEarly extends SyncError {
  readonly stop: EarlyStop;

  /** @param soFar in words: "812 of 2000 events are staged" */
  constructor(stop: EarlyStop, soFar: string) {
    const { reason, waitMs } = stop;
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

type EstimateBudget = Pick<RateLimiter, "waitMs" | "use" | "detailsPerWindow" | "windowMs">;

/** The window of services that take more at once, as their public documentation describes it. */
const LONGER_MINUTES = 10;
const LONGER_MS = LONGER_MINUTES * 60_000;

/** A longer run names the settings that shorten it. */
const LONG_RUN_MS = 5 * 60_000;

/**
 * `5,000 events, about 28 min`, and for a long run a sentence with the settings that shorten it. Without a limit there is
 * no time. Sizes of bodies count once one is known.
 */
export function estimate(events: number, budget: EstimateBudget): Advice {
  const ms = budget.waitMs(events);
  const text = `${countText(events)} events`;
  if (ms === 0) return [text];
  const about = `${text}, about ${remainingText(ms)}`;
  return ms < LONG_RUN_MS ? [about] : inOrder(`${about}.`, shortened(events, ms, budget));
}

function shortened(events: number, ms: number, budget: EstimateBudget): Advice {
  const { limit, most, windowMs } = budget.use(events);
  const higher = advise`A higher ${setting(LIMITS[limit])} shortens it if the service allows more`;
  const longerMs = inLongerWindowsMs(events, budget);
  if (windowMs >= LONGER_MS || longerMs > ms * 0.9 || most === Number.POSITIVE_INFINITY)
    return advise`${higher}.`;
  const then =
    longerMs === 0 ? "then all are requested at once" : `then it takes about ${remainingText(longerMs)}`;
  return advise`${higher}; so does ${setting("limitWindowSeconds", LONGER_MS / 1_000)} if the service averages its limit over ${LONGER_MINUTES} minutes: ${then}.`;
}

const LIMITS = { requests: "requestsPerMinute", bytes: "bytesPerMinute" } as const satisfies Readonly<
  Record<BudgetUse["limit"], string>
>;

function inLongerWindowsMs(events: number, { detailsPerWindow, windowMs }: EstimateBudget): number {
  const windows = Math.ceil(events / ((detailsPerWindow * LONGER_MS) / windowMs));
  return (windows - 1) * LONGER_MS;
}

/** A shorter run needs no estimate. */
const WORTH_SAYING_MS = 60_000;

/** So many bodies say how large the others are. */
const SAMPLE = 20;

/**
 * Says how long it takes, and once more if bodies make it much longer. The function that is returned is called for each
 * event that is done, with how many are left.
 */
export function sayEstimate(
  events: number,
  budget: EstimateBudget,
  { logger, words }: Pick<RunPorts, "logger" | "words">,
): (left: number) => void {
  let saidMs = 0;
  let seen = 0;
  const say = (left: number, ms: number): void => {
    if (ms < WORTH_SAYING_MS) return;
    saidMs = ms;
    logger.info(words.say(estimate(left, budget)), { events: left, seconds: Math.ceil(ms / 1_000) });
  };
  say(events, budget.waitMs(events));
  return (left) => {
    seen += 1;
    if (seen !== SAMPLE || budget.use(left).limit !== "bytes") return;
    const ms = budget.waitMs(left);
    if (ms > saidMs * 1.25) say(left, ms);
  };
}
