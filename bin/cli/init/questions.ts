// Asks a person at a terminal. What is typed is echoed by this program alone, so a secret never is.

import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Input } from "../authorize/paste-answer.ts";
import type { Terminal } from "../output/terminal.ts";

export interface QuestionsOptions {
  readonly input: Input;
  readonly terminal: Pick<Terminal, "line" | "message" | "redraw" | "erase" | "isInteractive">;
  readonly signal: AbortSignal;
}

export interface Question<Value> {
  readonly words: string;
  /** What Enter alone means. */
  readonly fallback?: string;
  readonly isHidden?: true;
  /** Throws `SyncError` for an answer that will not do; then the question is asked again. */
  readonly parse: (text: string) => Value;
}

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #reader: Interface;
  readonly #ended = Promise.withResolvers<never>();
  /** Typed before they were asked for. */
  readonly #lines: string[] = [];
  #onLine: ((line: string) => void) | undefined;
  #shown: string | undefined;

  constructor(options: QuestionsOptions) {
    const { input, signal } = options;
    this.#options = options;
    // A terminal that is read key by key echoes nothing by itself.
    this.#reader = createInterface({ input, output: silent(), terminal: true, historySize: 0 });
    this.#reader.on("line", (line) => {
      const answer = this.#onLine;
      this.#onLine = undefined;
      // What follows may be the next answer, which may be a secret.
      this.#shown = undefined;
      if (answer) answer(line);
      else this.#lines.push(line);
    });
    this.#reader.on("SIGINT", () => this.#ended.reject(new SyncError("INTERRUPTED", STOPPED)));
    this.#reader.on("close", () => this.#ended.reject(new SyncError("CONFIG_INVALID", ENDED)));
    signal.addEventListener("abort", this.#abort);
    input.on("keypress", this.#draw);
    this.#ended.promise.catch(() => undefined);
  }

  /** Throws `INTERRUPTED` for Ctrl-C, and `CONFIG_INVALID` where the input ends. */
  async ask<Value>({ words, fallback, isHidden, parse }: Question<Value>): Promise<Value> {
    const { terminal } = this.#options;
    const asked = `${words}${fallback === undefined ? "" : ` [${fallback}]`}: `;
    for (;;) {
      const answer = await this.#line(asked, isHidden === true);
      terminal.line(isHidden ? asked : `${asked}${answer}`);
      try {
        return parse(answer === "" && fallback !== undefined ? fallback : answer);
      } catch (error) {
        if (!(error instanceof SyncError)) throw error;
        terminal.message(`  ${error.message}`);
      }
    }
  }

  close(): void {
    const { input, signal, terminal } = this.#options;
    signal.removeEventListener("abort", this.#abort);
    input.removeListener("keypress", this.#draw);
    if (terminal.isInteractive) terminal.erase();
    this.#reader.close();
    input.pause();
  }

  async #line(asked: string, isHidden: boolean): Promise<string> {
    const { terminal } = this.#options;
    const { promise, resolve } = Promise.withResolvers<string>();
    const early = this.#lines.shift();
    if (early !== undefined) resolve(early);
    else {
      this.#onLine = resolve;
      if (!terminal.isInteractive) terminal.line(asked);
      this.#shown = isHidden ? undefined : asked;
      if (terminal.isInteractive) terminal.redraw([asked]);
    }
    const answer = await Promise.race([promise, this.#ended.promise]);
    this.#onLine = undefined;
    this.#shown = undefined;
    if (terminal.isInteractive) terminal.erase();
    return isHidden ? withoutErased(answer) : withoutErased(answer).trim();
  }

  readonly #abort = (): void => this.#ended.reject(this.#options.signal.reason);

  readonly #draw = (): void => {
    const { terminal } = this.#options;
    if (this.#shown !== undefined && terminal.isInteractive)
      terminal.redraw([`${this.#shown}${this.#reader.line}`]);
  };
}

const STOPPED = "Stopped before all questions were answered. Nothing was written.";
const ENDED =
  "Standard input ended before all questions were answered. Nothing was written. Start init again.";

/** Where `TERM` is `dumb`, the reader passes on backspaces as characters. */
function withoutErased(line: string): string {
  const kept: string[] = [];
  for (const character of line) {
    if (character === "\u007f" || character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}

function silent(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
