import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, fetchAll, texts, truth } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const EVENTS = makeEvents(100, { length: 300 });
/** A window lasts 0.3 s of real time: long enough to be filled by a machine that is busy with other things. */
const limited = () => ({ events: EVENTS, latencyMs: 200, clock: acceleratedClock(200) });

describe("a service that limits", () => {
  it.each(["seconds", "http-date"] as const)(
    "that is not configured is obeyed: no request is sent while a Retry-After (%s) lasts, and all events are fetched",
    async (retryAfter) => {
      await using connection = await connect({ ...limited(), limits: { requestsPerWindow: 30, retryAfter } });
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
      ...limited(),
      limits: { requestsPerWindow: 30, windowMs: 5_000, retryAfter: "none" },
    });

    const fetched = await fetchAll(connection.service, 16);

    expect(texts(fetched)).toEqual(truth(connection.simulator));
  });

  it("is never exceeded if it is configured", async () => {
    await using connection = await connect(
      { ...limited(), limits: { requestsPerWindow: 20 } },
      { limits: { requestsPerMinute: 20 } },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts).toMatchObject({ throttled: 0, retries: 0, requests: 102 });
    expect(simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(18);
  });

  it("is never exceeded if it is configured, in bytes", async () => {
    const bytesPerWindow = 12_000; // the list alone is 10,000
    await using connection = await connect(
      { ...limited(), limits: { bytesPerWindow } },
      { limits: { bytesPerMinute: bytesPerWindow } },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts.throttled).toBe(0);
    expect(service.counts.bytes).toBe(simulator.counts.bytes);
    expect(simulator.counts.fullestWindow.bytes).toBeLessThanOrEqual(bytesPerWindow);
  });

  it("is used as fast as it allows, and the wait for the budget is shown", async () => {
    const clock = new ManualClock(1_000_000);
    await using connection = await connect(
      { clock },
      { limits: { requestsPerMinute: 10 }, transport: scriptedTransport() },
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

const turnsOfTheLoop = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};
