// What a person sees on stderr while a run works: a progress bar on a terminal, plain lines in a pipe.

import type { Clock } from "../../lambdas/host/clock.ts";
import type { LogFields, Logger } from "../../lambdas/host/logger.ts";
import type { Limit, Progress } from "../../lambdas/run/run-host.ts";
import type { Wait } from "../../lambdas/service/waits.ts";
import { type Pace, progressText, waitText } from "./progress-text.ts";

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
const LINE_EVERY_MS = 10_000;
/** A wait shorter than this is not worth a line. */
const WORTH_A_LINE_MS = 2_000;

export interface DisplayOptions {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly clock: Clock;
  readonly requestsPerMinute: Limit;
}

/** Logger and progress in one, because log lines must not tear the bar. */
export class Display implements Logger {
  readonly #options: DisplayOptions;
  #progress: Progress | undefined;
  #wait: Wait | undefined;
  #first: { readonly done: number; readonly atMs: number } | undefined;
  #lastMs = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: DisplayOptions) {
    this.#options = options;
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
    const now = this.#options.clock.now();
    if (this.#first === undefined) {
      this.#first = { done: progress.done, atMs: now };
      this.#lastMs = now;
    }
    this.#progress = progress;
    if (this.#onTerminal) {
      this.#ticker ??= setInterval(() => this.#draw(), 1000).unref();
      if (now - this.#lastMs >= REDRAW_MS) this.#draw();
    } else if (now - this.#lastMs >= LINE_EVERY_MS) {
      this.#lastMs = now;
      this.#line(progressText(progress, this.#pace(now)));
    }
  }

  waiting(wait: Wait | undefined): void {
    const now = this.#options.clock.now();
    const isNew = wait !== undefined && wait.kind !== this.#wait?.kind;
    this.#wait = wait;
    if (this.#onTerminal) this.#draw();
    else if (isNew && wait.untilMs - now >= WORTH_A_LINE_MS) this.#line(this.#waitText(wait, now));
  }

  /** Takes the bar away; what follows is the result. */
  end(): void {
    clearInterval(this.#ticker);
    if (this.#onTerminal && this.#progress) this.#options.stream.write("\r\u001b[K");
    this.#progress = undefined;
    this.#wait = undefined;
  }

  get #onTerminal(): boolean {
    return this.#options.stream.isTTY === true;
  }

  #pace(nowMs: number): Pace {
    const first = this.#first ?? { done: 0, atMs: nowMs };
    return { doneHere: (this.#progress?.done ?? 0) - first.done, elapsedMs: nowMs - first.atMs };
  }

  #waitText(wait: Wait, nowMs: number): string {
    return waitText(wait, nowMs, this.#options.requestsPerMinute);
  }

  #line(message: string): void {
    const { stream } = this.#options;
    if (this.#onTerminal && this.#progress) stream.write("\r\u001b[K");
    stream.write(`${message}\n`);
    if (this.#onTerminal) this.#draw();
  }

  #draw(): void {
    const progress = this.#progress;
    if (progress === undefined) return;
    const { stream, clock } = this.#options;
    const now = clock.now();
    this.#lastMs = now;
    const share = progress.total === 0 ? 1 : progress.done / progress.total;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
    const wait = this.#wait ? `; ${this.#waitText(this.#wait, now)}` : "";
    const text = `${bar} ${progressText(progress, this.#pace(now))}${wait}`;
    stream.write(`\r\u001b[K${text.slice(0, (stream.columns ?? 80) - 1)}`);
  }
}
