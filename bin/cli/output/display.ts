// What a command writes to stderr while it runs: a progress bar on a terminal, lines with their instants elsewhere.

import { countText, remainingText } from "../../../lambdas/job/run/record/texts.ts";
import type { Progress } from "../../../lambdas/job/run/run-ports.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import { LOG_LEVELS, type Logger } from "../../../lambdas/job/runtime/logger.ts";
import type { BudgetUse, RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Wait } from "../../../lambdas/job/service/requests/sender.ts";
import type { Terminal } from "./terminal.ts";
import { plural } from "./words.ts";

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Until the first line of progress; then the time doubles from line to line, so that a long run makes a handful. */
const FIRST_LINE_MS = 10_000;
/** Shorter waits get no line, and would only flicker beside a bar. */
const SHORT_WAIT_MS = 1_000;
/** A person who has mistyped an address is told before two seconds are over; a login may take a second. */
const SILENT_MS = 1_500;

interface DisplayOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly level: keyof Logger;
}

/** Logger and progress in one, because log lines must not tear the bar. */
export class Display implements Logger {
  readonly #options: DisplayOptions;
  readonly #rate = new ProgressRateMeter();
  #budget: Budget | undefined;
  #progress: Progress | undefined;
  #wait: Wait | undefined;
  #isWaitShown = false;
  #lastMs = 0;
  #untilLineMs = FIRST_LINE_MS;
  readonly #reported = new Set<Wait["kind"]>();
  #ticker: NodeJS.Timeout | undefined;
  #waitEnds = new AbortController();

  constructor(options: DisplayOptions) {
    this.#options = options;
  }

  /** Tells the budget that permits the requests. */
  within(budget: Budget): void {
    this.#budget = budget;
  }

  debug(message: string): void {
    this.#log("debug", message);
  }

  info(message: string): void {
    this.#log("info", message);
  }

  warn(message: string): void {
    this.#log("warn", `warning: ${message}`);
  }

  error(message: string): void {
    this.#log("error", `error: ${message}`);
  }

  progress(progress: Progress): void {
    const now = this.#options.clock.monotonicMs();
    const isFirst = this.#progress === undefined;
    this.#progress = progress;
    this.#rate.progress(progress, now);
    if (this.#onTerminal) {
      this.#ticker ??= setInterval(() => this.#draw(), 1_000).unref();
      if (isFirst || now - this.#lastMs >= REDRAW_MS) this.#draw();
    } else if (isFirst) this.#lastMs = now;
    else if (now - this.#lastMs >= this.#untilLineMs) {
      this.#lastMs = now;
      this.#untilLineMs *= 2;
      this.#log("info", this.#text(progress));
    }
  }

  waiting(wait: Wait | undefined): void {
    const now = this.#options.clock.monotonicMs();
    const isNew = wait?.kind !== this.#wait?.kind;
    const wasShown = this.#isWaitShown;
    this.#wait = wait;
    const isLong = wait !== undefined && wait.kind !== "silent" && wait.untilMs - now >= SHORT_WAIT_MS;
    this.#isWaitShown = wait !== undefined && ((!isNew && wasShown) || isLong);
    this.#rate.waitsForBudget(wait?.kind === "budget", now);
    if (this.#onTerminal && (wasShown || this.#isWaitShown)) this.#draw();
    if (!isNew) return;
    this.#waitEnds.abort();
    this.#waitEnds = new AbortController();
    if (wait) void this.#reportIfItLasts(wait, this.#waitEnds.signal);
  }

  /** Removes the bar. The result follows. */
  end(): void {
    clearInterval(this.#ticker);
    this.#waitEnds.abort();
    if (this.#onTerminal && this.#progress) this.#options.terminal.erase();
    this.#progress = undefined;
    this.#wait = undefined;
    this.#isWaitShown = false;
  }

  get #onTerminal(): boolean {
    return this.#options.terminal.isInteractive;
  }

  #text(progress: Progress): string {
    return progressText(progress, this.#rate.measure(progress, this.#budget));
  }

  async #reportIfItLasts({ kind }: Wait, over: AbortSignal): Promise<void> {
    const ms = kind === "silent" ? SILENT_MS : SHORT_WAIT_MS;
    await this.#options.clock.sleep(ms, over).catch(() => undefined);
    if (over.aborted) return;
    if (this.#onTerminal && this.#progress) {
      this.#isWaitShown = true;
      this.#draw();
      return;
    }
    // The first wait of its kind says why the run takes its time; the others would fill a log.
    this.#log(this.#reported.has(kind) ? "debug" : "info", this.#waitText());
    this.#reported.add(kind);
  }

  #waitText(): string {
    return this.#wait ? waitText(this.#wait, this.#options.clock.monotonicMs(), this.#budget?.use()) : "";
  }

  #log(level: keyof Logger, message: string): void {
    const { terminal, clock } = this.#options;
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(this.#options.level)) return;
    if (this.#onTerminal && this.#progress) terminal.erase();
    terminal.lines([this.#onTerminal ? message : `${new Date(clock.now()).toISOString()} ${message}`]);
    if (this.#onTerminal) this.#draw();
  }

  #draw(): void {
    const progress = this.#progress;
    if (progress === undefined) return;
    const { terminal, clock } = this.#options;
    const now = clock.monotonicMs();
    this.#lastMs = now;
    const text = this.#text(progress);
    const bar = barOf(progress);
    const wait = this.#waitText();
    const short = `${countText(progress.done)} of ${countText(progress.total)}`;
    const shortWait = this.#wait ? waitText(this.#wait, now, undefined) : "";
    const waiting = [
      `${text}; ${wait}`,
      `${short} events; ${wait}`,
      `${short}; ${wait}`,
      `${short}; ${shortWait}`,
    ];
    const texts = this.#isWaitShown ? waiting : [text];
    terminal.redraw(texts.flatMap((each, index) => (index === 0 ? [`${bar} ${each}`, each] : [each])));
  }
}

function barOf({ done, total }: Progress): string {
  const filled = Math.round((total === 0 ? 1 : done / total) * BAR_WIDTH);
  return `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
}

const MIB = 1024 * 1024;

/** `812 of 2,000 events, 179 a minute, 7 min left, 3 retries`. */
function progressText({ done, total, retries }: Progress, { perMs, leftMs }: ProgressRate): string {
  const parts = [`${countText(done)} of ${countText(total)} events`];
  if (perMs > 0) parts.push(rate(perMs));
  if (leftMs !== undefined) parts.push(`${remainingText(leftMs)} left`);
  if (retries > 0) parts.push(plural(retries, "retry", "retries"));
  return parts.join(", ");
}

/** What every request waits for, and for how long; without the use of the budget, where there is no room for it. */
function waitText(wait: Wait, nowMs: number, use: BudgetUse | undefined): string {
  const left = remainingText(Math.max(0, wait.untilMs - nowMs));
  switch (wait.kind) {
    case "silent":
      return `no answer yet from ${wait.origin}`;
    case "retry-after":
      return `the service asks to wait ${left}`;
    case "throttled":
      return `the service takes no more requests for now; tries again in ${left}`;
    case "retry":
      return `tries again in ${left}`;
    case "budget":
      return use === undefined ? `the next request in ${left}` : `${useText(use)}; the next in ${left}`;
  }
}

/** `180 of 180 requests of this minute used`, `9.0 of 9.0 MiB of these 10 minutes used`. */
function useText({ limit, used, most, windowMs }: BudgetUse): string {
  const window = windowText(windowMs);
  return limit === "requests"
    ? `${countText(used)} of ${countText(most)} requests of ${window} used`
    : `${mebibytes(used)} of ${mebibytes(most)} MiB of ${window} used`;
}

function windowText(ms: number): string {
  if (ms === 60_000) return "this minute";
  if (ms === 3_600_000) return "this hour";
  return ms % 60_000 === 0 ? `these ${ms / 60_000} minutes` : `these ${Math.ceil(ms / 1_000)} s`;
}

function mebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

function rate(perMs: number): string {
  const perSecond = perMs * 1000;
  return perSecond >= 10
    ? `${countText(Math.round(perSecond))} a second`
    : `${countText(Math.round(perSecond * 60))} a minute`;
}

/** How fast a run goes and how long it will still take. */
interface ProgressRate {
  /** Events a millisecond; 0 while nothing is known. */
  readonly perMs: number;
  readonly leftMs: number | undefined;
}

type Budget = Pick<RateLimiter, "use" | "waitMs" | "detailsPerWindow" | "windowMs">;

interface Sample {
  readonly done: number;
  readonly atMs: number;
}

/** An event that took so long was waited for: the service was down, or asked to wait. */
const PAUSE_MS = 5_000;

/**
 * Measures from the first report of this process how fast the service answers, without the waits for the budget. What
 * is left takes as long as the slower of the two needs, service and budget: a burst says nothing of the whole. Nor does a
 * pause that came once: of several their distance says how many more there will be.
 */
class ProgressRateMeter {
  #last: Sample | undefined;
  readonly #steady = { events: 0, ms: 0 };
  readonly #pauses = { count: 0, ms: 0, longestMs: 0, firstAt: 0, lastAt: 0 };
  #waitedMs = 0;
  #waitsSinceMs: number | undefined;

  progress({ done }: Progress, nowMs: number): void {
    const atMs = nowMs - this.#waited(nowMs);
    const last = this.#last ?? { done, atMs };
    const events = done - last.done;
    const ms = atMs - last.atMs;
    if (events > 0 && ms / events < PAUSE_MS) {
      this.#steady.events += events;
      this.#steady.ms += ms;
    } else if (events > 0) {
      const pauses = this.#pauses;
      if (pauses.count === 0) pauses.firstAt = done;
      pauses.count += 1;
      pauses.ms += ms;
      pauses.longestMs = Math.max(pauses.longestMs, ms);
      pauses.lastAt = done;
    }
    if (events > 0 || this.#last === undefined) this.#last = { done, atMs };
  }

  /** The run waits for the budget, or no longer does. */
  waitsForBudget(waits: boolean, nowMs: number): void {
    this.#waitedMs = this.#waited(nowMs);
    this.#waitsSinceMs = waits ? nowMs : undefined;
  }

  measure({ done, total }: Progress, budget: Budget | undefined): ProgressRate {
    const rest = total - done;
    const serviceMs = this.#serviceMs(Math.max(1, rest));
    const perMs = serviceMs > 0 ? Math.max(1, rest) / serviceMs : 0;
    if (rest <= 0) return { perMs, leftMs: undefined };
    const budgetMs = budget?.waitMs(rest) ?? 0;
    const isBudgetBound =
      budget !== undefined && budgetMs > serviceMs && Number.isFinite(budget.detailsPerWindow);
    if (isBudgetBound) return { perMs: budget.detailsPerWindow / budget.windowMs, leftMs: budgetMs };
    const leftMs = Math.max(serviceMs, budgetMs); // without a limit the budget still knows of a Retry-After
    return { perMs, leftMs: leftMs > 0 ? leftMs : undefined };
  }

  /** How long the service takes for so many events; 0 while nothing is known. */
  #serviceMs(events: number): number {
    const steadyMs = this.#steady.events > 0 ? (events * this.#steady.ms) / this.#steady.events : 0;
    const { count, ms, longestMs, firstAt, lastAt } = this.#pauses;
    if (count < 2) return steadyMs;
    const more = Math.floor((events * (count - 1)) / (lastAt - firstAt));
    return steadyMs + (more * (ms - longestMs)) / (count - 1);
  }

  /** How long was waited for the budget until now. */
  #waited(nowMs: number): number {
    return this.#waitedMs + (this.#waitsSinceMs === undefined ? 0 : nowMs - this.#waitsSinceMs);
  }
}
