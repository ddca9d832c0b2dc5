import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Transport } from "../../lambdas/service/transport.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import type { Fault } from "../simulator/faults.ts";
import { ManualClock } from "../simulator/manual-clock.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, texts, truth } from "./connection.ts";

const EVENTS = makeEvents(100, { length: 300 });
const LIMITED = { events: EVENTS, latencyMs: 200 };

describe("a service that limits", () => {
  it.each(["seconds", "http-date"] as const)(
    "is obeyed where we were not told: nobody sends while a Retry-After (%s) lasts, and all events come",
    async (retryAfter) => {
      await using connection = await connect({ ...LIMITED, limits: { requestsPerWindow: 30, retryAfter } });
      const { service, simulator } = connection;

      const fetched = await fetchAll(service, 16);

      expect(texts(fetched)).toEqual(truth(simulator));
      expect(simulator.counts.requestsDuringRetryAfter).toBe(0);
      expect(service.counts.throttled).toBe(simulator.counts.statuses.get(429));
      expect(service.counts.throttled).toBeGreaterThan(0);
      expect(service.counts.throttled).toBeLessThanOrEqual(service.counts.retries);
      expect(service.counts.logins).toBe(1);
    },
  );

  it("is obeyed where it does not say for how long", async () => {
    await using connection = await connect({
      ...LIMITED,
      limits: { requestsPerWindow: 30, windowMs: 5_000, retryAfter: "none" },
    });

    const fetched = await fetchAll(connection.service, 16);

    expect(texts(fetched)).toEqual(truth(connection.simulator));
  });

  it("never says 429 where we were told its limit", async () => {
    await using connection = await connect(
      { ...LIMITED, limits: { requestsPerWindow: 40 } },
      { limits: { requestsPerWindow: 40 } },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts).toMatchObject({ throttled: 0, retries: 0, requests: 102 });
    expect(simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(36);
  });

  it("never says 429 where we were told its limit in bytes", async () => {
    const bytesPerWindow = 20_000;
    await using connection = await connect(
      { ...LIMITED, limits: { bytesPerWindow } },
      { limits: { bytesPerWindow } },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts.throttled).toBe(0);
    expect(service.counts.bytes).toBe(simulator.counts.bytes);
    expect(simulator.counts.fullestWindow.bytes).toBeLessThanOrEqual(bytesPerWindow);
  });

  it("is served as fast as it allows, and the wait for our own budget is shown", async () => {
    const clock = new ManualClock(1_000_000);
    await using connection = await connect(
      { clock },
      { limits: { requestsPerWindow: 10 }, transport: instantService },
    );
    const { service, waits } = connection;
    await service.logIn();

    const answered: number[] = [];
    const details = EVENTS.slice(0, 20).map(async ({ uuid }) => {
      await service.detail(uuid);
      answered.push(clock.now());
    });
    for (let n = 0; n < 3; n += 1) {
      await turnsOfTheLoop(5);
      clock.advance(60_001);
    }
    await Promise.all(details);

    // Nine a window: one was the login.
    const [first, second, third] = [1_000_000, 1_060_001, 1_120_002];
    expect(answered).toEqual([...Array(8).fill(first), ...Array(9).fill(second), ...Array(3).fill(third)]);
    expect(waits.filter((wait) => wait !== undefined)).toContainEqual({ kind: "budget", untilMs: second });
    expect(waits.at(-1)).toBeUndefined();
  });
});

/** Answers every detail, and everything else with a cookie, without a moment's delay. */
const instantService: Transport = {
  send: async ({ url }) => {
    const uuid = /[^/]+$/.exec(url.pathname)?.[0];
    const bytes = Buffer.from(JSON.stringify({ uuid }));
    const headers = new Map([["set-cookie", ["s=1"]]]);
    return { status: 200, headers, wireBytes: bytes.length, body: { kind: "whole", bytes } };
  },
  close: async () => undefined,
};

const turnsOfTheLoop = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};

describe("Retry-After", () => {
  const asks = (status: number, seconds: string): Fault => ({
    kind: "status",
    status,
    headers: { "retry-after": seconds },
  });

  it.each([429, 503, 500])("of a %i is waited for, shown, and uses up one attempt", async (status) => {
    await using connection = await connect({
      faults: [{ match: { path: "list" }, fault: asks(status, "100") }],
    });
    const { service, simulator, waits } = connection;

    await service.list();

    const [, refused, served] = simulator.requests;
    expect((served?.arrivedAtMs ?? 0) - (refused?.answeredAtMs ?? 0)).toBeGreaterThanOrEqual(100_000);
    expect(waits[0]?.kind).toBe("retry-after");
    expect(service.counts.retries).toBe(1);
  });

  it.each([429, 503])("of more than 15 minutes (%i) ends the run", async (status) => {
    await using connection = await connect({
      faults: [{ match: { path: "list" }, fault: asks(status, "901") }],
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "THROTTLED", fields: { status, seconds: 901 } });
    expect(connection.simulator.counts.list).toBe(1);
  });

  it("that adds up to more than 15 minutes without a success ends the run", async () => {
    await using connection = await connect({
      clock: acceleratedClock(10_000),
      faults: [{ match: { path: "list", times: Infinity }, fault: asks(429, "400") }],
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "THROTTLED" });
    expect(connection.simulator.counts.list).toBe(3);
  });

  it("stops everybody, also those who had nothing to do with it", async () => {
    const victim = EVENTS[20]?.uuid ?? "";
    await using connection = await connect({
      ...LIMITED,
      faults: [{ match: { uuid: victim }, fault: asks(503, "300") }],
    });
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 8);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts.requestsDuringRetryAfter).toBe(0);
  });

  it("that makes no sense is as good as none", async () => {
    await using connection = await connect({
      faults: [{ match: { path: "list", times: 3 }, fault: asks(503, "soon") }],
    });

    await connection.service.list();

    expect(connection.service.counts.retries).toBe(3);
  });
});

describe("a request that is throttled", () => {
  const victim = EVENTS[0]?.uuid ?? "";
  const throttled = (times: number) => ({
    match: { uuid: victim, times },
    fault: { kind: "status", status: 429, headers: { "retry-after": "1" } } as const,
  });

  it("is tried again as long as others get through", async () => {
    await using connection = await connect({ ...LIMITED, faults: [throttled(12)] });

    const fetched = await fetchAll(connection.service, 4);

    expect(texts(fetched)).toEqual(truth(connection.simulator));
    expect(connection.simulator.counts.detailsByUuid.get(victim)).toBe(13);
  });

  it("ends the run after six attempts when no others get through", async () => {
    await using connection = await connect({ events: EVENTS.slice(0, 1), faults: [throttled(Infinity)] });

    const error = await errorOf(fetchAll(connection.service, 1));

    expect(error).toMatchObject({ code: "THROTTLED", fields: { attempts: 6, status: 429 } });
    expect(connection.simulator.counts.details).toBe(6);
  });
});
