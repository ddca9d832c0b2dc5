// The one place that writes to stdout and stderr, so that nothing written there can harm a terminal or a run.

import { isErrno } from "../../../lambdas/job/storage/directory/file-error.ts";
import { indentedLines, oneLine, ownLines } from "./terminal-text.ts";

export type TerminalStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

const ERASE_LINE = "\r\u001b[K";

/**
 * Writes never fail: a reader that leaves (`| head -1`) is no error, and a log that cannot be written (a full
 * disk) must not end a run. After any error but a closed pipe the next write is tried again.
 */
export class Terminal {
  readonly #stream: TerminalStream;
  #isClosed = false;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
    stream.on("error", (error) => {
      this.#isClosed ||= isErrno(error, "EPIPE");
    });
  }

  /** Whether a line can be drawn again. */
  get isInteractive(): boolean {
    return this.#stream.isTTY === true;
  }

  /** One line, whatever the text holds. */
  line(text: string): void {
    this.#write(`${oneLine(text)}\n`);
  }

  /** One line for each text. */
  lines(texts: readonly string[]): void {
    this.#write(texts.map((text) => `${oneLine(text)}\n`).join(""));
  }

  /** A text whose line breaks are all the program's own, the one at its end too. */
  text(text: string): void {
    this.#write(ownLines(text));
  }

  /** A message that may quote others. Its first line begins at the margin, the later ones are indented. */
  message(text: string): void {
    this.#write(`${indentedLines(text)}\n`);
  }

  /** The value on one line, for programs. */
  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** Draws the line under the cursor again, cut to the terminal's width. */
  redraw(text: string): void {
    this.#write(`${ERASE_LINE}${oneLine(text).slice(0, (this.#stream.columns ?? 80) - 1)}`);
  }

  /** Erases what `redraw` drew. */
  erase(): void {
    this.#write(ERASE_LINE);
  }

  #write(text: string): void {
    if (!this.#isClosed) this.#stream.write(text);
  }
}
