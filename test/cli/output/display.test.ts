import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { Display } from "../../../bin/cli/output/display.ts";
import { Terminal } from "../../../bin/cli/output/terminal.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import {
  RateLimiter,
  type RateLimiterOptions,
} from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { carrierOf } from "../../job/service/rate-limit/rate-limiter-setup.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";

interface Shown {
  readonly display: Display;
  readonly clock: ManualClock;
  readonly budget: RateLimiter;
  /** What was written since it was asked last. */
  readonly text: () => string;
}

function shown(options: {
  readonly isTTY: boolean;
  /** Of a terminal. */
  readonly columns?: number;
  readonly budget?: Partial<RateLimiterOptions>;
  readonly level?: keyof Logger;
}): Shown {
  const stream = Object.assign(new PassThrough(), { isTTY: options.isTTY, columns: options.columns ?? 120 });
  const clock = new ManualClock(1_000_000);
  const display = new Display({
    terminal: new Terminal(stream),
    clock,
    level: options.level ?? "info",
  });
  const budget = new RateLimiter({
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    windowMs: 60_000,
    clock,
    ...options.budget,
  });
  display.within(budget);
  onTestFinished(() => display.end());
  // A read gives all that was written, or one write of it: that depends on the version of Node.js.
  const text = (): string => {
    const chunk: unknown = stream.read();
    return chunk === null ? "" : `${chunk}${text()}`;
  };
  return { display, clock, budget, text };
}

/** Sends so many requests at once, each answered with so many bytes. */
function send(budget: RateLimiter, requests: number, bytes = 0): void {
  for (let n = 0; n < requests; n += 1) budget.tryAcquire("detail")?.settle(bytes);
}

/** What the bar says at last. */
const lastDrawn = (text: string): string => text.split("\r\u001b[K").at(-1) ?? "";

describe("on a terminal", () => {
  test("a bar shows how far the run is, how fast, how long it takes and what it waits for", () => {
    const { display, clock, text } = shown({ isTTY: true, columns: 160 });

    display.progress({ done: 0, total: 2_000, retries: 0 });
    clock.advance(10_000);
    display.progress({ done: 500, total: 2_000, retries: 2 });
    display.waiting({ kind: "retry-after", untilMs: clock.now() + 12_000 });

    expect(lastDrawn(text())).toBe(
      "██████░░░░░░░░░░░░░░░░░░ 500 of 2,000 events, 50 a second, 30 s left, 2 retries; the service asks to wait 12 s",
    );
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
  });

  test("a wait is reported once it has lasted a second, with its reason", async () => {
    const { display, clock, budget, text } = shown({ isTTY: false, budget: { requestsPerMinute: 200 } });
    send(budget, 180);

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
    expect(text()).toBe(
      "1970-01-01T00:16:46.500Z 180 of 180 requests of this minute used; the next in 39 s\n",
    );
  });

  test.each([true, false])(
    "a server that does not answer is named within two seconds, also where nothing is drawn: terminal %s",
    async (isTTY) => {
      const { display, clock, text } = shown({ isTTY });
      const silent = {
        kind: "silent",
        untilMs: Number.POSITIVE_INFINITY,
        origin: "http://127.0.0.1:9461",
      } as const;

      display.waiting(silent);
      clock.advance(1_400);
      display.waiting(undefined);
      clock.advance(5_000);
      await setImmediate();
      const quick = text();
      display.waiting(silent);
      clock.advance(1_500);
      await setImmediate();

      expect(quick).toBe("");
      expect(text()).toMatch(/no answer yet from http:\/\/127\.0\.0\.1:9461\n$/);
    },
  );

  test("a run of hours makes a handful of lines", async () => {
    const { display, clock, budget, text } = shown({ isTTY: false, budget: { requestsPerMinute: 200 } });
    send(budget, 180);

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
    expect(lines.filter((line) => line.includes("requests of this minute"))).toHaveLength(1);
    for (const line of lines) expect(line).toMatch(/^1970-01-01T\d\d:\d\d:\d\d\.000Z /);
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

describe("the time left", () => {
  test.each([
    {
      is: "that of the budget after a burst, not that of the burst",
      limits: { requestsPerMinute: 200 },
      total: 5_000,
      done: 180,
      meanwhile: ({ clock, budget }: Shown) => {
        clock.advance(2_000);
        send(budget, 180);
      },
      drawn: "180 of 5,000 events, 180 a minute, 28 min left",
    },
    {
      is: "that of the service where it is slower than the budget, also after a wait for the budget",
      limits: { requestsPerMinute: 200, earlier: [{ atMs: 1_000_000, requests: 180, bytes: 0 }] },
      total: 1_000,
      done: 100,
      meanwhile: ({ display, clock }: Shown) => {
        display.waiting({ kind: "budget", untilMs: clock.now() + 60_001 });
        clock.advance(60_001);
        display.waiting(undefined);
        clock.advance(60_000);
      },
      drawn: "100 of 1,000 events, 100 a minute, 9 min left",
    },
    {
      is: "by bytes where they are the narrower limit",
      limits: { requestsPerMinute: 200, bytesPerMinute: 1_000_000 },
      total: 100,
      done: 9,
      meanwhile: ({ clock, budget }: Shown) => {
        clock.advance(1_000);
        send(budget, 9, 100_000);
      },
      drawn: "9 of 100 events, 9 a minute, 12 min left",
    },
    {
      is: "with a Retry-After, also without a limit",
      limits: {},
      total: 100,
      done: 50,
      meanwhile: ({ clock, budget }: Shown) => {
        clock.advance(1_000);
        budget.pause(600_000, true);
      },
      drawn: "50 of 100 events, 50 a second, 10 min left",
    },
  ])("is $is", ({ limits, total, done, meanwhile, drawn }) => {
    const made = shown({ isTTY: true, budget: limits });

    made.display.progress({ done: 0, total, retries: 0 });
    meanwhile(made);
    made.display.progress({ done, total, retries: 0 });

    expect(lastDrawn(made.text())).toContain(drawn);
  });
});

describe("the time left after events that came so far, each so many seconds after the one before", () => {
  const STEADY = Array.from({ length: 50 }, () => 1);
  const EVERY_TEN = Array.from({ length: 50 }, (_, index) => (index % 10 === 4 ? 61 : 1));

  test.each([
    { what: "steadily", seconds: STEADY, total: 52, drawn: "50 of 52 events, 60 a minute, 2 s left" },
    {
      what: "with one pause of half an hour, which says nothing of another",
      seconds: [...STEADY.slice(1), 31 * 60],
      total: 52,
      drawn: "50 of 52 events, 60 a minute, 2 s left",
    },
    {
      what: "with a pause before the first one",
      seconds: [31 * 60, ...STEADY.slice(1)],
      total: 100,
      drawn: "50 of 100 events, 60 a minute, 50 s left",
    },
    {
      what: "with a pause after every ten, of which there will be more",
      seconds: EVERY_TEN,
      total: 100,
      drawn: "50 of 100 events, 8 a minute, 6 min left",
    },
    {
      what: "with a pause after every ten, none of which will come",
      seconds: EVERY_TEN,
      total: 52,
      drawn: "50 of 52 events, 60 a minute, 2 s left",
    },
    {
      what: "each after a pause, because the service is slow",
      seconds: [20, 20, 20],
      total: 10,
      drawn: "3 of 10 events, 3 a minute, 3 min left",
    },
    {
      what: "after one pause and nothing else, is not known",
      seconds: [31 * 60],
      total: 10,
      drawn: "1 of 10 events",
    },
  ])("$what", ({ seconds, total, drawn }) => {
    const { display, clock, text } = shown({ isTTY: true });

    display.progress({ done: 0, total, retries: 0 });
    for (const [index, each] of seconds.entries()) {
      clock.advance(each * 1_000);
      display.progress({ done: index + 1, total, retries: 0 });
    }

    expect(lastDrawn(text()).replace(/^[█░]+ /, "")).toBe(drawn);
  });
});

describe("a wait beside the bar", () => {
  const REST = { done: 1_812, total: 50_000, retries: 0 };

  test.each([
    {
      columns: 120,
      drawn:
        "1,812 of 50,000 events, 180 a minute, 4 h 28 min left; 180 of 180 requests of this minute used; the next in 53 s",
    },
    { columns: 80, drawn: "1,812 of 50,000; 180 of 180 requests of this minute used; the next in 53 s" },
    { columns: 60, drawn: "1,812 of 50,000; the next request in 53 s" },
    { columns: 30, drawn: "1,812 of 50,000; the next re…" },
  ])("on $columns columns is: $drawn", ({ columns, drawn }) => {
    const { display, clock, budget, text } = shown({
      isTTY: true,
      columns,
      budget: { requestsPerMinute: 200 },
    });
    send(budget, 180);
    clock.advance(7_001);

    display.progress(REST);
    display.waiting({ kind: "budget", untilMs: budget.freeAtMs(1) });

    expect(lastDrawn(text())).toBe(drawn);
  });

  test.each([
    {
      windowMs: 600_000,
      requestsPerMinute: 20,
      says: "180 of 180 requests of these 10 minutes used; the next in 10 min",
    },
    {
      windowMs: 3_600_000,
      requestsPerMinute: 3,
      says: "162 of 162 requests of this hour used; the next in 60 min",
    },
    {
      windowMs: 90_000,
      requestsPerMinute: 20,
      says: "27 of 27 requests of these 90 s used; the next in 2 min",
    },
  ])("names the window of $windowMs ms", ({ says, ...options }) => {
    const { display, budget, text } = shown({ isTTY: true, columns: 160, budget: options });
    send(budget, 180);

    display.progress(REST);
    display.waiting({ kind: "budget", untilMs: budget.freeAtMs(1) });

    expect(lastDrawn(text())).toContain(`; ${says}`);
  });

  test("names bytes where they are what is used up", () => {
    const budgetOf = { requestsPerMinute: 200, bytesPerMinute: 10 * 1024 * 1024 };
    const { display, budget, text } = shown({ isTTY: true, columns: 160, budget: budgetOf });
    send(budget, 10, 1_000_000);

    display.progress(REST);
    display.waiting({ kind: "budget", untilMs: budget.freeAtMs(1) });

    expect(lastDrawn(text())).toContain("; 8.6 of 9.0 MiB of this minute used; the next in 60 s");
  });

  test("counts what earlier runs have sent", () => {
    const carrier = carrierOf([{ atMs: 980_000, requests: 180, bytes: 0 }]);
    const { display, budget, text } = shown({ isTTY: true, budget: { requestsPerMinute: 200, carrier } });

    display.progress({ done: 0, total: 10, retries: 0 });
    display.waiting({ kind: "budget", untilMs: budget.freeAtMs(1) });

    expect(lastDrawn(text())).toContain("180 of 180 requests of this minute used; the next in 40 s");
  });

  test("that the service did not ask for is not said to be asked for", () => {
    const { display, clock, text } = shown({ isTTY: true });

    display.progress({ done: 1, total: 10, retries: 0 });
    display.waiting({ kind: "throttled", untilMs: clock.monotonicMs() + 120_000 });

    expect(lastDrawn(text())).toContain("; the service takes no more requests for now; tries again in 2 min");
  });

  test("of less than a second is not shown: it would only flicker", () => {
    const { display, clock, text } = shown({ isTTY: true });
    display.progress({ done: 1, total: 10, retries: 0 });
    text();

    display.waiting({ kind: "budget", untilMs: clock.monotonicMs() + 333 });
    display.waiting(undefined);

    expect(text()).toBe("");
  });

  test("is gone when it ends", () => {
    const { display, clock, text } = shown({ isTTY: true });
    display.progress({ done: 1, total: 10, retries: 0 });
    display.waiting({ kind: "retry", untilMs: clock.monotonicMs() + 5_000 });
    text();

    display.waiting(undefined);

    expect(lastDrawn(text())).toBe("██░░░░░░░░░░░░░░░░░░░░░░ 1 of 10 events");
  });
});
