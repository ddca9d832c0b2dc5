import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { get, login } from "./browser.ts";
import { ManualClock } from "./manual-clock.ts";
import { RequestLog, RetryAfterWatch } from "./request-log.ts";
import type { SimulatorOptions } from "./settings.ts";
import { makeEvent, makeEvents } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const [FIRST, SECOND, THIRD] = [makeEvent(1).uuid, makeEvent(2).uuid, makeEvent(3).uuid] as const;

let simulator: Simulator;
afterEach(() => simulator.stop());

const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await Simulator.start({ events: makeEvents(3), ...options });
};

const detail = (uuid: string): Promise<Response> => get(simulator, `/v1/events/${uuid}`);

/** Lets what is on its way arrive. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 1_000; turn += 1) await nextTurn();
};

describe("the counts", () => {
  test("tell requests and responses", async () => {
    const clock = new ManualClock(NOON_MS);
    await start({ clock });

    await login(simulator);
    await login(simulator, { email: "x", password: "y" });
    await get(simulator, "/v1/events");
    await get(simulator, "/v1/events", {});
    clock.advance(60_000);
    await detail(FIRST);
    await detail(FIRST);
    await detail("unknown");

    const { bytes, fullestWindow, ...counts } = simulator.counts;
    expect(counts).toEqual({
      requests: 7,
      logins: 2,
      loginsAccepted: 1,
      list: 2,
      details: 3,
      detailsByUuid: new Map([
        [FIRST, 2],
        ["unknown", 1],
      ]),
      statuses: new Map([
        [200, 4],
        [404, 2],
        [401, 1],
      ]),
      maxInFlight: 1,
      requestsDuringRetryAfter: 0,
      unauthenticated: 1,
      faults: 0,
    });
    const lastThree = 2 * Buffer.byteLength(`{"data":${makeEvent(1).source}}`) + 56;
    expect(fullestWindow.requests).toBe(4);
    expect(fullestWindow.bytes).toBe(Math.max(lastThree, bytes - lastThree));
    expect(simulator.requests.map(({ n, endpoint, status }) => [n, endpoint, status]).slice(0, 3)).toEqual([
      [1, "login", 200],
      [2, "login", 404],
      [3, "list", 200],
    ]);
  });

  test("are zero after a reset", async () => {
    await start();
    await detail(FIRST);

    simulator.reset();

    expect(simulator.counts).toMatchObject({ requests: 0, bytes: 0, maxInFlight: 0, details: 0 });
    expect(simulator.counts.detailsByUuid.size).toBe(0);
  });

  test("include how many requests were in flight at once", async () => {
    const clock = new ManualClock(NOON_MS);
    await start({ clock, latencyMs: 100 });
    const responses = [FIRST, SECOND, THIRD].map(detail);

    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(3);
    clock.advance(100);
    await Promise.all(responses);
    simulator.configure({ latencyMs: 0 });
    await detail(FIRST);

    expect(simulator.counts.maxInFlight).toBe(3);
  });
});

describe("limits", () => {
  test("are stated truthfully, with a Date by the same clock, and hold for logins too", async () => {
    const clock = new ManualClock(NOON_MS);
    await start({ clock, limits: { requestsPerWindow: 2, windowMs: 5_000 } });
    await login(simulator);
    clock.advance(1_500);
    await detail(FIRST);

    const refused = await login(simulator);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("4");
    expect(refused.headers.get("date")).toBe("Sat, 21 Nov 2026 12:00:01 GMT");

    await settle();
    clock.advance(3_499);
    expect((await detail(FIRST)).status).toBe(429);
    clock.advance(1);
    expect((await detail(FIRST)).status).toBe(200);
    expect(simulator.counts.fullestWindow.requests).toBe(4);
  });

  test.each(["gzip", "br", undefined] as const)("on bytes count bodies before %s", async (encoding) => {
    await start({ clock: new ManualClock(NOON_MS), limits: { bytesPerWindow: 19_998 }, encoding });
    simulator.change(FIRST, { source: `"${"x".repeat(9_988)}"` });

    expect((await detail(FIRST)).status).toBe(200);
    expect((await detail(FIRST)).status).toBe(200);
    expect((await detail(FIRST)).status).toBe(429);
    expect(simulator.requests.map(({ bytes }) => bytes).slice(0, 2)).toEqual([9_999, 9_999]);
  });

  test("come before faults, which wait for a request that is let in", async () => {
    const clock = new ManualClock(NOON_MS);
    const fault = { kind: "status", status: 500 } as const;
    await start({ clock, limits: { requestsPerWindow: 1 }, faults: [{ match: { nth: 2 }, fault }] });

    const statuses = [(await detail(FIRST)).status, (await detail(FIRST)).status];
    clock.advance(60_000);
    statuses.push((await detail(FIRST)).status);

    expect(statuses).toEqual([200, 429, 500]);
  });

  test("count requests while a Retry-After lasts, a scripted one too", async () => {
    const clock = new ManualClock(NOON_MS);
    const fault = { kind: "status", status: 503, headers: { "retry-after": "10" } } as const;
    await start({ clock, faults: [{ match: { nth: 2 }, fault }] });

    await detail(FIRST);
    await detail(FIRST);
    await settle();
    clock.advance(9_999);
    await detail(FIRST);
    clock.advance(1);
    await detail(FIRST);

    expect(simulator.counts.requestsDuringRetryAfter).toBe(1);
  });

  test("do not hold what was on its way against the client", async () => {
    await start({ limits: { requestsPerWindow: 1 } });
    await detail(FIRST);

    await Promise.all(Array.from({ length: 64 }, () => detail(FIRST)));

    expect(simulator.counts.statuses.get(429)).toBe(64);
    expect(simulator.counts.requestsDuringRetryAfter).toBe(0);
  });
});

const logOf = (
  ...requests: readonly {
    readonly arrivedAtMs: number;
    readonly answeredAtMs: number;
    readonly bytes: number;
  }[]
): RequestLog => {
  const made = new RequestLog();
  for (const { arrivedAtMs, answeredAtMs, bytes } of requests) {
    const entry = made.arrive({ endpoint: "list", arrivedAtMs, duringRetryAfter: false });
    entry.answeredAtMs = answeredAtMs;
    entry.bytes = bytes;
    made.leave();
  }
  return made;
};

describe("the log", () => {
  test("the fullest window holds what is less than its length apart, an instant at its very end no more", () => {
    const requests = logOf(
      { arrivedAtMs: 0, answeredAtMs: 0, bytes: 1 },
      { arrivedAtMs: 500, answeredAtMs: 500, bytes: 20 },
      { arrivedAtMs: 1_000, answeredAtMs: 1_000, bytes: 300 },
    );

    expect(requests.counts(1_000).fullestWindow).toEqual({ requests: 2, bytes: 320 });
    expect(requests.counts(1_001).fullestWindow).toEqual({ requests: 3, bytes: 321 });
    expect(requests.counts(500).fullestWindow).toEqual({ requests: 1, bytes: 300 });
  });

  test("bytes count by when they were sent, in whatever order the responses were made", () => {
    const requests = logOf(
      { arrivedAtMs: 0, answeredAtMs: 5_000, bytes: 1 },
      { arrivedAtMs: 1, answeredAtMs: 1, bytes: 20 },
      { arrivedAtMs: 2, answeredAtMs: 5_500, bytes: 300 },
    );

    expect(requests.counts(1_000).fullestWindow.bytes).toBe(301);
  });

  test("requests without a response yet count as requests, and have no status", () => {
    const requests = new RequestLog();
    requests.arrive({ endpoint: "detail", uuid: "a", arrivedAtMs: 0, duringRetryAfter: true });

    expect(requests.counts(1_000)).toMatchObject({
      requests: 1,
      details: 1,
      maxInFlight: 1,
      requestsDuringRetryAfter: 1,
      bytes: 0,
      statuses: new Map(),
    });
  });

  test("a reset keeps in flight what is in flight", () => {
    const requests = new RequestLog();
    requests.arrive({ endpoint: "list", arrivedAtMs: 0, duringRetryAfter: false });
    requests.arrive({ endpoint: "list", arrivedAtMs: 0, duringRetryAfter: false });
    requests.leave();

    requests.reset();

    expect(requests.counts(1_000)).toMatchObject({ requests: 0, maxInFlight: 1 });
  });
});

describe("a Retry-After that was sent", () => {
  test.each([
    { value: "7", lasts: [NOON_MS, NOON_MS + 6_999], over: NOON_MS + 7_000 },
    { value: "Sat, 21 Nov 2026 12:00:09 GMT", lasts: [NOON_MS, NOON_MS + 8_999], over: NOON_MS + 9_000 },
    { value: "1795262409", lasts: [NOON_MS, NOON_MS + 8_999], over: NOON_MS + 9_000 },
    { value: "1795262409001", lasts: [NOON_MS, NOON_MS + 9_000], over: NOON_MS + 9_001 },
  ])("$value binds from when it was sent until its end", async ({ value, lasts, over }) => {
    const watch = new RetryAfterWatch();

    await watch.sent({ "retry-after": value }, NOON_MS);

    expect(lasts.map((atMs) => watch.lasts(atMs))).toEqual([true, true]);
    expect(watch.lasts(over)).toBe(false);
  });

  test("is the longest of several, whichever was sent last", async () => {
    const watch = new RetryAfterWatch();

    await watch.sent({ "retry-after": "10" }, NOON_MS);
    await watch.sent({ "retry-after": "2" }, NOON_MS);

    expect(watch.lasts(NOON_MS + 9_999)).toBe(true);
  });

  test.each([{}, { "retry-after": "soon" }])("is none in %j", async (headers) => {
    const watch = new RetryAfterWatch();

    await watch.sent(headers, NOON_MS);

    expect(watch.lasts(NOON_MS)).toBe(false);
  });
});
