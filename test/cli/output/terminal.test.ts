// What reaches stdout and stderr: no control of the terminal, no forged lines, one line of JSON, no failure.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Terminal } from "../../../bin/cli/output/terminal.ts";

const BIN = join(import.meta.dirname, "..", "..", "..", "bin");

function terminal(): { readonly terminal: Terminal; readonly written: () => string } {
  const stream = new PassThrough();
  return { terminal: new Terminal(stream), written: () => String(stream.read() ?? "") };
}

/** Where Python's `str.splitlines` ends a line. */
const PYTHON_LINE_ENDS = ["\n", "\r", "\v", "\f", "\u001c", "\u001d", "\u001e", "\u0085", "\u2028", "\u2029"];

describe("a line", () => {
  test.each([
    ["an escape sequence", "a\u001b[2Jb", "a\\u001b[2Jb"],
    ["a C1 control", "a\u009b31mb", "a\\u009b31mb"],
    ["a carriage return", "a\rb", "a\\u000db"],
    ["a backspace and DEL", "a\b\u007fb", "a\\u0008\\u007fb"],
    ["bidirectional marks", "\u200e\u200f\u061c\u202e\u2066x", "\\u200e\\u200f\\u061c\\u202e\\u2066x"],
    ["a line break", "a\nPUBLISHED", "a\\nPUBLISHED"],
    ["half a character", "a\ud800b", "a\\ud800b"],
    ["other line ends", "a\u0085\u2028\u2029b", "a\\u0085\\u2028\\u2029b"],
    ["a zero width space and a soft hyphen", "pass\u200bwo\u00adrd", "pass\\u200bwo\\u00adrd"],
    ["joiners between letters that do not join", "a\u200cb\u200dc", "a\\u200cb\\u200dc"],
    ["a byte order mark and a word joiner", "\ufeffa\u2060b\u2064", "\\ufeffa\\u2060b\\u2064"],
    ["variation selectors", "a\ufe0fb\ufe00c\u{e0100}", "a\\ufe0fb\\ufe00c\\udb40\\udd00"],
    ["tags", "a\u{e0061}\u{e007f}", "a\\udb40\\udc61\\udb40\\udc7f"],
    ["fillers and annotations", "\u034f\u115f\u3164\ufff9a", "\\u034f\\u115f\\u3164\\ufff9a"],
    ["letters, accents and emoji", "Münch 東京 👩‍🚀 ❤️‍🔥 👩🏽‍🚀 1️⃣", "Münch 東京 👩‍🚀 ❤️‍🔥 👩🏽‍🚀 1️⃣"],
    ["letters that a joiner separates or joins", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"],
  ])("shows %s", (_, text, shown) => {
    const { terminal: one, written } = terminal();

    one.lines([text]);

    expect(written()).toBe(`${shown}\n`);
  });
});

test("lines of others inside a message are indented, so that none passes for one of ours", () => {
  const { terminal: one, written } = terminal();

  one.message("QUERY_FAILED: no such column\nok      snapshot\n\u001b[1A");

  expect(written()).toBe("QUERY_FAILED: no such column\n  ok      snapshot\n  \\u001b[1A\n");
});

test("each text of a list stays on its line", () => {
  const { terminal: one, written } = terminal();

  one.lines(["account uk", "  held  x: because\n  pinned  yes"]);

  expect(written()).toBe("account uk\n  held  x: because\\n  pinned  yes\n");
});

test("JSON is one line for every reader, stays the same value, and shows no control character", () => {
  const { terminal: one, written } = terminal();
  const every = String.fromCodePoint(...Array.from({ length: 0xd800 }, (_, code) => code));

  one.json({ every });

  const text = written();
  expect(text.endsWith("\n")).toBe(true);
  for (const end of PYTHON_LINE_ENDS) expect(text.slice(0, -1)).not.toContain(end);
  expect(text.slice(0, -1)).not.toMatch(/[\p{Control}\p{Default_Ignorable_Code_Point}]/u);
  expect(JSON.parse(text)).toEqual({ every });
});

test.each([
  { code: "EPIPE", tried: ["first\n"], what: "is left alone afterwards" },
  { code: "ENOSPC", tried: ["first\n", "second\n"], what: "is tried again with the next write" },
  { code: "EIO", tried: ["first\n", "second\n"], what: "is tried again with the next write" },
])("a stream that fails with $code costs nothing and $what", async ({ code, tried }) => {
  const writes: string[] = [];
  const stream = new PassThrough();
  // As process.stdout does: an error is an event, and does not end the stream.
  stream.write = (chunk: unknown) => {
    writes.push(String(chunk));
    queueMicrotask(() => stream.emit("error", Object.assign(new Error(code), { code })));
    return true;
  };
  const one = new Terminal(stream);

  one.lines(["first"]);
  await setImmediate();
  one.lines(["second"]);
  await setImmediate();

  expect(writes).toEqual(tried);
});

test("nothing else in bin writes to stdout or stderr", async () => {
  const files = (await readdir(BIN, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const writes = /console\.|process\.std(?:out|err)(?![),])|\.write\(/;

  const writers: string[] = [];
  for (const file of files) if (writes.test(await readFile(join(BIN, file), "utf8"))) writers.push(file);

  // `cdk synth` runs app.ts, whose only output is the message of a wrong setting; sync.ts refuses an old Node.js
  // before it loads anything.
  expect(writers.sort()).toEqual(["app.ts", join("cli", "output", "terminal.ts"), "sync.ts"]);
});

describe("on a terminal", () => {
  const onTerminal = (environment: { TERM?: string; NO_COLOR?: string } = {}) => {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const made = new Terminal(stream, { TERM: "xterm", ...environment });
    return { made, stream, written: () => String(stream.read() ?? "") };
  };

  test.each([
    ["PUBLISHED  run x", "\u001b[32mPUBLISHED\u001b[0m  run x\n"],
    ["HELD  run x", "\u001b[33mHELD\u001b[0m  run x\n"],
    ["interrupted  run x", "\u001b[36minterrupted\u001b[0m  run x\n"],
    ["FAILED  login", "\u001b[31mFAILED\u001b[0m  login\n"],
    ["  2026-11-21 14:30 UTC  FAILED  1 s", "  2026-11-21 14:30 UTC  \u001b[31mFAILED\u001b[0m  1 s\n"],
    ["the login FAILED", "the login FAILED\n"],
  ])("only an outcome has a colour: %j", (text, shown) => {
    const { made, written } = onTerminal();

    made.lines([text]);

    expect(written()).toBe(shown);
  });

  test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("%j turns colours off", (environment) => {
    const { made, written } = onTerminal(environment);

    made.message("FAILED  login");

    expect(written()).toBe("FAILED  login\n");
    expect(made.isInteractive).toBe(environment.TERM !== "dumb");
  });

  test("elsewhere there are no colours", () => {
    const { terminal: one, written } = terminal();

    one.lines(["FAILED  login"]);

    expect(written()).toBe("FAILED  login\n");
  });

  test("a line that a narrower terminal has wrapped is erased whole", () => {
    const { made, stream, written } = onTerminal();
    made.redraw(["x".repeat(70)]);
    written();

    stream.columns = 30;
    made.redraw(["y".repeat(70)]);

    expect(written()).toBe(`\u001b[2A\r\u001b[J${"y".repeat(28)}…`);
  });

  test.each([
    { columns: 12, drawn: "a long line" },
    { columns: 11, drawn: "shorter" },
    { columns: 7, drawn: "short…" },
  ])(
    "of several texts the first that fits $columns columns is drawn, or the last one, cut",
    ({ columns, drawn }) => {
      const { made, stream, written } = onTerminal();
      stream.columns = columns;

      made.redraw(["a long line", "shorter"]);

      expect(written()).toBe(`\r\u001b[K${drawn}`);
    },
  );
});

describe("a piece of a result", () => {
  /** A stream whose writes end as told. */
  const streamThat = (ends: (done: (error?: Error) => void) => void, isTTY = false) => {
    const written: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        written.push(String(chunk));
        ends(done);
      },
    });
    return { terminal: new Terminal(Object.assign(stream, { isTTY })), written };
  };
  const failing = (code: string) => streamThat((done) => done(Object.assign(new Error(code), { code })));

  test("is exact in a pipe, and harmless on a terminal", async () => {
    const pipe = streamThat((done) => done());
    const screen = streamThat((done) => done(), true);

    await pipe.terminal.pieces(["a\u001b[2J\r\n", "b"]);
    await screen.terminal.pieces(["a\u001b[2J\r\n", "b"]);

    expect(pipe.written).toEqual(["a\u001b[2J\r\n", "b"]);
    expect(screen.written).toEqual(["a\\u001b[2J\\u000d\n", "b"]);
  });

  test("is waited for until a slow reader has it", async () => {
    const waiting = Promise.withResolvers<() => void>();
    const { terminal: one } = streamThat((done) => waiting.resolve(done));
    let isWritten = false;

    const writing = one.pieces(["x"]).then(() => {
      isWritten = true;
    });
    const done = await waiting.promise;
    await setImmediate();

    expect(isWritten).toBe(false);
    done();
    await writing;
  });

  test("is the last one when the reader has left", async () => {
    const { terminal: one, written } = failing("EPIPE");

    await one.pieces(["x", "y"]);
    await one.pieces(["z"]);

    expect(written).toEqual(["x"]);
    expect(await one.failure()).toBeUndefined();
  });

  test("is the last one on a full disk, which is a failure", async () => {
    const { terminal: one, written } = failing("ENOSPC");

    await one.pieces(["x", "y"]);

    expect(written).toEqual(["x"]);
    expect(await one.failure()).toMatchObject({ code: "ENOSPC" });
  });
});
