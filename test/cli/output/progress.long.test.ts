// The progress of a run on a real pseudo-terminal, and in a pipe.

import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { type Laptop, laptop, syncProcess } from "../command-line.ts";
import { hasPseudoTerminals, type OnTerminal, syncOnTerminal } from "./pseudo-terminal.ts";

/** 9 requests in 10 seconds: login, list and 7 details, then the run waits. */
const LIMIT = ["--requests-per-minute", "60", "--limit-window", "10", "--bytes-per-minute", "unlimited"];
const WAIT = /7 of 30.*; 9 of 9 requests of these 10 s used; the next in \d+ s/;

/** A control sequence that sets a colour. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const COLOUR = /\u001b\[[\d;]*m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f]/;

/** A laptop of 30 events, and a run within the limit. */
async function set(): Promise<Laptop & { readonly args: readonly string[] }> {
  const world = await laptop({ events: makeEvents(30) });
  return { ...world, args: ["run", "--base-url", world.simulator.url, ...LIMIT] };
}

/** The lines that were drawn one over the other, and those that stay. */
const drawn = (text: string): readonly string[] =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what divides them
  text.split(/(?:\u001b\[\d+A)?\r\u001b\[[KJ]|\r\n/).filter((line) => line !== "");

async function stop(terminal: OnTerminal): Promise<number> {
  terminal.interrupt();
  return terminal.exitCode;
}

describe.skipIf(!hasPseudoTerminals && process.env["CI"] !== "true")("on a terminal", () => {
  test.each([
    { columns: 80, line: /^7 of 30 events; 9 of 9 requests of these 10 s used; the next in \d+ s$/ },
    {
      columns: 120,
      line: /^[█░]{24} 7 of 30 events, 54 a minute, \d+ s left; 9 of 9 requests of these 10 s used; the next in \d+ s$/,
    },
  ])("of $columns columns the line fits and says what the run waits for", async ({ columns, line }) => {
    const { cwd, args } = await set();

    const terminal = syncOnTerminal(args, { cwd, columns });
    const text = await terminal.until(WAIT);
    const exitCode = await stop(terminal);

    const lines = drawn(text).filter((each) => each.includes(" of 30"));
    expect(lines.findLast((each) => WAIT.test(each))).toMatch(line);
    expect(Math.max(...lines.map((each) => each.length))).toBeLessThan(columns);
    expect(exitCode).toBe(130);
  });

  test("that becomes narrower and wider while the run waits, the line fits again", async () => {
    const { cwd, args } = await set();

    const terminal = syncOnTerminal(args, { cwd, columns: 120 });
    await terminal.until(WAIT);
    const wide = terminal.text().length;
    terminal.resize(62);
    // The wide line was wrapped, so the row above is erased as well.
    await terminal.until("\u001b[1A\r\u001b[J7 of 30; 9 of", wide);
    const narrow = terminal.text().length;
    const narrowLine = drawn(terminal.text()).at(-1) ?? "";
    terminal.resize(120);
    await terminal.until(" 7 of 30 events, 54 a minute", narrow);
    await stop(terminal);

    expect(narrowLine.length).toBeLessThan(62);
  });

  test.each([
    { title: "has colours", env: {}, hasColour: true },
    { title: "has no colour with NO_COLOR", env: { NO_COLOR: "1" }, hasColour: false },
  ])("a result $title", async ({ env, hasColour }) => {
    const cwd = await temporaryDirectory(); // without credentials
    const args = ["check", "--base-url", "http://127.0.0.1:1"];

    const terminal = syncOnTerminal(args, { cwd, columns: 80, env });

    expect(await terminal.exitCode).toBe(2);
    expect(COLOUR.test(terminal.text())).toBe(hasColour);
    expect(terminal.text()).toContain("CREDENTIALS_INVALID");
  });

  test("with TERM=dumb lines come one below the other, without a control character", async () => {
    const { cwd, args } = await set();

    const terminal = syncOnTerminal(args, { cwd, columns: 80, env: { TERM: "dumb" } });
    await terminal.until("9 of 9 requests");
    await stop(terminal);

    const text = terminal.text().replaceAll("\r\n", "\n").replaceAll("^C", "");
    expect(text).not.toMatch(CONTROL);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 9 of 9 requests of these 10 s used; the next in \d+ s$/m);
  });
});

test("in a pipe there is no control character", async () => {
  const { cwd, args } = await set();

  const { stdout, stderr } = await syncProcess([...args, "--dry-run", "--limit", "7"], { cwd });

  expect(`${stdout}${stderr}`).not.toMatch(CONTROL);
  expect(stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z logged in$/m);
});
