import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { LogLevel } from "../../../bin/cli/options/log-level.ts";
import { Display } from "../../../bin/cli/output/display.ts";
import { Terminal } from "../../../bin/cli/output/terminal.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";

function shown(options: {
  readonly isTTY: boolean;
  readonly requestsPerMinute?: number;
  readonly level?: LogLevel;
}): {
  display: Display;
  clock: ManualClock;
  text: () => string;
} {
  const stream = Object.assign(new PassThrough(), { isTTY: options.isTTY, columns: 120 });
  const clock = new ManualClock(1_000_000);
  const display = new Display({
    terminal: new Terminal(stream),
    clock,
    requestsPerMinute: options.requestsPerMinute ?? "unlimited",
    level: options.level ?? "info",
  });
  // A read gives all that was written, or one write of it: that depends on the version of Node.js.
  const text = (): string => {
    const chunk: unknown = stream.read();
    return chunk === null ? "" : `${chunk}${text()}`;
  };
  return { display, clock, text };
}

describe("on a terminal", () => {
  test("a bar shows how far the run is, how fast, how long it takes and what it waits for", () => {
    const { display, clock, text } = shown({ isTTY: true, requestsPerMinute: 200 });

    display.progress({ done: 0, total: 2_000, retries: 0 });
    clock.advance(10_000);
    display.progress({ done: 500, total: 2_000, retries: 2 });
    display.waiting({ kind: "retry-after", untilMs: clock.now() + 12_000 });

    const last = text().split("\r\u001b[K").at(-1);
    expect(last).toBe(
      "██████░░░░░░░░░░░░░░░░░░ 500 of 2,000 events, 50 a second, 30 s left, 2 retries; the service asks to wait 12 s",
    );
    display.end();
  });

  test("a log line takes the place of the bar, which is drawn again below it", () => {
    const { display, text } = shown({ isTTY: true });

    display.progress({ done: 1, total: 2, retries: 0 });
    text();
    display.warn("something");

    const bar = "████████████░░░░░░░░░░░░ 1 of 2 events";
    expect(text()).toBe(`\r\u001b[Kwarning: something\n\r\u001b[K${bar}`);
    display.end();
    expect(text()).toBe("\r\u001b[K");
  });
});

describe("in a pipe", () => {
  test("a line comes after ten seconds, and none for a run that is over sooner", () => {
    const { display, clock, text } = shown({ isTTY: false });

    display.progress({ done: 0, total: 100, retries: 0 });
    clock.advance(9_000);
    display.progress({ done: 20, total: 100, retries: 0 });
    const early = text();
    clock.advance(1_000);
    display.progress({ done: 25, total: 100, retries: 1 });

    expect(early).toBe("");
    expect(text()).toBe("1970-01-01T00:16:50.000Z 25 of 100 events, 150 a minute, 30 s left, 1 retry\n");
    display.end();
  });

  test("a wait is reported once it has lasted a second, with its reason", async () => {
    const { display, clock, text } = shown({ isTTY: false, requestsPerMinute: 200 });

    display.waiting({ kind: "budget", untilMs: clock.now() + 40_000 });
    clock.advance(500);
    display.waiting(undefined);
    clock.advance(5_000);
    await setImmediate();
    const short = text();
    display.waiting({ kind: "budget", untilMs: clock.now() + 40_000 });
    clock.advance(1_000);
    await setImmediate();

    expect(short).toBe("");
    expect(text()).toBe("1970-01-01T00:16:46.500Z request budget: 180 a minute, 39 s left\n");
    display.end();
  });

  test("after a wait for the budget the time left goes by the budget", async () => {
    const { display, clock, text } = shown({ isTTY: false, requestsPerMinute: 200 });

    display.progress({ done: 1_000, total: 1_360, retries: 0 });
    display.waiting({ kind: "budget", untilMs: clock.now() + 60_000 });
    clock.advance(1_000);
    await setImmediate();
    text();
    clock.advance(59_000);
    display.waiting(undefined);
    display.progress({ done: 1_001, total: 1_361, retries: 0 });

    expect(text()).toBe("1970-01-01T00:17:40.000Z 1,001 of 1,361 events, 180 a minute, 2 min left\n");
    display.end();
  });

  test("a run of hours makes a handful of lines", async () => {
    const { display, clock, text } = shown({ isTTY: false, requestsPerMinute: 200 });

    for (let minute = 0; minute <= 180; minute += 1) {
      display.progress({ done: minute, total: 180, retries: 0 });
      display.debug("GET /v1/events: status 503; next attempt in 1.0 s");
      display.waiting({ kind: "budget", untilMs: clock.now() + 30_000 });
      clock.advance(30_000);
      await setImmediate();
      display.waiting(undefined);
      clock.advance(30_000);
    }

    const lines = text().trimEnd().split("\n");
    expect(lines.length).toBeLessThan(12);
    expect(lines.filter((line) => line.includes("request budget"))).toHaveLength(1);
    for (const line of lines) expect(line).toMatch(/^1970-01-01T\d\d:\d\d:\d\d\.000Z /);
    display.end();
  });

  test.each([
    { level: "error", logged: ["error: e"] },
    { level: "warn", logged: ["warning: w", "error: e"] },
    { level: "info", logged: ["i", "warning: w", "error: e"] },
    { level: "debug", logged: ["d", "i", "warning: w", "error: e"] },
  ] as const)("the level $level writes $logged", ({ level, logged }) => {
    const { display, text } = shown({ isTTY: false, level });

    display.debug("d");
    display.info("i");
    display.warn("w");
    display.error("e");

    expect(text()).toBe(logged.map((line) => `1970-01-01T00:16:40.000Z ${line}\n`).join(""));
  });
});
