// The one place that writes to stdout and stderr, so that nothing written there can harm a terminal or a run.

import { fstatSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import { codeOf } from "../../../lambdas/job/errors/sync-error.ts";

export interface Output {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
}

/** What a person types, or a pipe brings. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

type TerminalStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

const ERASE_LINE = "\r\u001b[K";
const COLUMNS = 80;

/** Standard ways to say what a terminal should not do (no-color.org; terminfo's `dumb`). */
interface TerminalEnvironment {
  readonly TERM?: string | undefined;
  readonly NO_COLOR?: string | undefined;
}

/**
 * Writes never throw: a reader that leaves (`| head -1`) is no error, and a log that cannot be written (a full
 * disk) must not end a run. After any error but a closed pipe the next write is tried again; `failure` has the first.
 */
export class Terminal {
  readonly #stream: TerminalStream;
  readonly #hasColours: boolean;
  #isClosed = false;
  #failure: unknown;
  /** Characters of the line that `redraw` has drawn. */
  #drawn = 0;
  #isEmpty = true;

  /** Whether a line can be drawn again. */
  readonly isInteractive: boolean;

  readonly #isTerminal: boolean;

  constructor(stream: TerminalStream, { TERM, NO_COLOR = "" }: TerminalEnvironment = {}) {
    this.#stream = stream;
    this.#isTerminal = stream.isTTY === true;
    this.isInteractive = this.#isTerminal && TERM !== "dumb";
    this.#hasColours = this.isInteractive && NO_COLOR === "";
    stream.on("error", (error) => this.#note(error));
  }

  /** One line for each text, whatever it holds. */
  lines(texts: readonly string[]): void {
    this.#write(texts.map((text) => `${this.#coloured(oneLine(text))}\n`).join(""));
  }

  /** A text whose line breaks are all the program's own, the one at its end too. */
  text(text: string): void {
    this.#write(ownLines(text));
  }

  /** A message that may quote others: its later lines are indented, so that none of them passes for one of ours. */
  message(text: string): void {
    this.#write(`${this.#coloured(ownLines(text).replaceAll("\n", "\n  "))}\n`);
  }

  /** The value on one line, for programs. */
  json(value: unknown): void {
    this.lines([JSON.stringify(value)]);
  }

  /** False once something was written. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** How many columns a line has; undefined for a file or a pipe. */
  get width(): number | undefined {
    return this.#isTerminal ? this.#columns : undefined;
  }

  /**
   * The pieces of a result, for a program as they are, for a terminal without what controls it; no more once one cannot be
   * written. A slow reader slows down what makes them.
   */
  async pieces(texts: AsyncIterable<string> | Iterable<string>): Promise<void> {
    for await (const text of texts) {
      const shown = this.#isTerminal ? ownLines(text) : text;
      await new Promise<void>((resolve) => this.#write(shown, resolve));
      if (this.#isClosed || this.#failure !== undefined) return;
    }
  }

  /** The first error but a reader that left, once all is written. */
  async failure(): Promise<unknown> {
    if (!this.#isEmpty) await new Promise<void>((resolve) => this.#write("", resolve));
    return this.#failure;
  }

  /** Draws the line under the cursor again: the first text that fits the terminal's width, or else the last one, cut. */
  redraw(texts: readonly string[]): void {
    const width = this.#columns - 1;
    const lines = texts.map(oneLine);
    const fitting = lines.find((line) => line.length <= width);
    const drawn = fitting ?? `${(lines.at(-1) ?? "").slice(0, Math.max(0, width - 1))}…`;
    this.#write(`${this.#eraseDrawn()}${drawn}`);
    this.#drawn = drawn.length;
  }

  /** Erases what `redraw` drew. */
  erase(): void {
    this.#write(this.#eraseDrawn());
    this.#drawn = 0;
  }

  /** A terminal that has become narrower since has wrapped the line: then it takes several rows. */
  #eraseDrawn(): string {
    const rows = Math.max(1, Math.ceil(this.#drawn / this.#columns));
    return rows === 1 ? ERASE_LINE : `\u001b[${rows - 1}A\r\u001b[J`;
  }

  /** Some terminals say 0 before their size is known. */
  get #columns(): number {
    return this.#stream.columns || COLUMNS;
  }

  #coloured(line: string): string {
    return this.#hasColours ? withColours(line) : line;
  }

  #write(text: string, onEnd: () => void = () => undefined): void {
    this.#isEmpty = false;
    const ended = (error?: Error | null): void => {
      this.#note(error);
      onEnd();
    };
    if (this.#isClosed) ended();
    else this.#stream.write(text, ended);
  }

  /** After an error the stream may refuse a write of the same moment as one to a destroyed stream. */
  #note(error: unknown): void {
    if (codeOf(error) === "EPIPE") this.#isClosed = true;
    else if (error && codeOf(error) !== "ERR_STREAM_DESTROYED") this.#failure ??= error;
  }
}

/** Of scripts in which a joiner between two letters changes how they are drawn. */
const JOINING = String.raw`[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Telu}]`;
/** What has no width of its own but belongs to what is drawn: in an emoji, and between letters. */
const DRAWN = String.raw`\u200d(?<=(?:\p{ExtPict}\ufe0f?|\p{EMod}).)(?=\p{ExtPict})|\ufe0f(?<=[\p{ExtPict}\d#*].)|[\u200c\u200d](?<=${JOINING}.)(?=${JOINING})`;
/**
 * Control characters, what is not drawn at all (marks that reorder a line are among it), the two other line ends of
 * Unicode, unpaired surrogates. Some programs that read lines end them at a few of these too: Python's `splitlines` does.
 */
const UNSAFE = String.raw`[\p{Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\p{Surrogate}]`;
const FOUND = new RegExp(`${DRAWN}|(${UNSAFE})`, "gu");

/** The text on one line, whatever it holds: line breaks are shown as `\n`. JSON stays the same JSON. */
export function oneLine(text: string): string {
  return text.replaceAll(FOUND, (all, unsafe?: string) => (unsafe === undefined ? all : visible(unsafe)));
}

/** A text of the program's own: its line breaks and tabs stay. */
function ownLines(text: string): string {
  return text.replaceAll(FOUND, (all, unsafe?: string) =>
    unsafe === undefined || unsafe === "\n" || unsafe === "\t" ? all : visible(unsafe),
  );
}

function visible(character: string): string {
  if (character === "\n") return "\\n";
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** The colour of an outcome at the beginning of a line, or after the instant of a run: nothing else has one. */
const OUTCOME = /^((?: {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC {2})?)(PUBLISHED|HELD|FAILED|interrupted)\b/;

/** Numbers of ECMA-48's SGR: green, yellow, red, cyan. */
const COLOURS: Readonly<Record<string, number>> = {
  PUBLISHED: 32,
  HELD: 33,
  FAILED: 31,
  interrupted: 36,
};

function withColours(line: string): string {
  return line.replace(
    OUTCOME,
    (_, before: string, outcome: string) => `${before}\u001b[${COLOURS[outcome]}m${outcome}\u001b[0m`,
  );
}

/** Into a file, the stream of Node.js takes a text for written of which a disk that became full has taken a part. */
export function wholeWrites(stdout: NodeJS.Process["stdout"]): NodeJS.WritableStream {
  if (!fstatSync(stdout.fd).isFile()) return stdout;
  const write = (text: unknown, _: unknown, done: (error?: Error) => void): void => {
    try {
      writeFileSync(stdout.fd, String(text));
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return new Writable({ decodeStrings: false, write });
}
