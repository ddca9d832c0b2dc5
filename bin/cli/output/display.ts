// What a person sees on stderr while a run works: a progress bar on a terminal, plain lines in a pipe.

import type { Progress } from "../../../lambdas/job/run/run-ports.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { LogFields, Logger } from "../../../lambdas/job/runtime/logger.ts";
import type { Wait } from "../../../lambdas/job/service/requests/wait-reporter.ts";
import type { Limit } from "../../../lambdas/job/settings/limit.ts";
import { ProgressRateMeter } from "./progress-rate.ts";
import { progressText, waitText } from "./progress-text.ts";
import type { Terminal } from "./terminal.ts";

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
const LINE_EVERY_MS = 10_000;
/** Shorter waits get no line. */
const REPORT_AFTER_MS = 1_000;

export interface DisplayOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly requestsPerMinute: Limit;
}

/** Logger and progress in one, because log lines must not tear the bar. */
export class Display implements Logger {
  readonly #options: DisplayOptions;
  readonly #rate: ProgressRateMeter;
  #progress: Progress | undefined;
  #wait: Wait | undefined;
  #lastMs = 0;
  #ticker: NodeJS.Timeout | undefined;
  #waitEnds = new AbortController();

  constructor(options: DisplayOptions) {
    this.#options = options;
    this.#rate = new ProgressRateMeter(options.requestsPerMinute);
  }

  info(message: string, _fields?: LogFields): void {
    this.#line(message);
  }

  warn(message: string, _fields?: LogFields): void {
    this.#line(`warning: ${message}`);
  }

  error(message: string, _fields?: LogFields): void {
    this.#line(`error: ${message}`);
  }

  progress(progress: Progress): void {
    const now = this.#options.clock.monotonicMs();
    const isFirst = this.#progress === undefined;
    this.#progress = progress;
    const text = this.#text(progress, now);
    if (this.#onTerminal) {
      this.#ticker ??= setInterval(() => this.#draw(), 1_000).unref();
      if (isFirst || now - this.#lastMs >= REDRAW_MS) this.#draw();
    } else if (isFirst) this.#lastMs = now;
    else if (now - this.#lastMs >= LINE_EVERY_MS) {
      this.#lastMs = now;
      this.#line(text);
    }
  }

  waiting(wait: Wait | undefined): void {
    const isNew = wait?.kind !== this.#wait?.kind;
    this.#wait = wait;
    if (this.#onTerminal) this.#draw();
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
  }

  get #onTerminal(): boolean {
    return this.#options.terminal.isInteractive;
  }

  #text(progress: Progress, nowMs: number): string {
    return progressText(progress, this.#rate.measure(progress.done, progress.total, nowMs));
  }

  async #reportIfItLasts({ kind }: Wait, over: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(REPORT_AFTER_MS, over).catch(() => undefined);
    if (over.aborted) return;
    if (kind === "budget") this.#rate.waitsForBudget();
    if (!this.#onTerminal) this.#line(this.#waitText());
  }

  #waitText(): string {
    const { clock, requestsPerMinute } = this.#options;
    return this.#wait ? waitText(this.#wait, clock.monotonicMs(), requestsPerMinute) : "";
  }

  #line(message: string): void {
    const { terminal } = this.#options;
    if (this.#onTerminal && this.#progress) terminal.erase();
    terminal.line(message);
    if (this.#onTerminal) this.#draw();
  }

  #draw(): void {
    const progress = this.#progress;
    if (progress === undefined) return;
    const { terminal, clock } = this.#options;
    const now = clock.monotonicMs();
    this.#lastMs = now;
    const share = progress.total === 0 ? 1 : progress.done / progress.total;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
    const wait = this.#wait ? `; ${this.#waitText()}` : "";
    terminal.redraw(`${bar} ${this.#text(progress, now)}${wait}`);
  }
}
