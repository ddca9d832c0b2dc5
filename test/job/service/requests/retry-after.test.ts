import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Transport } from "../../../../lambdas/job/service/http/transport.ts";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import type { Fault } from "../../../simulator/faults.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, texts, truth } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const EVENTS = makeEvents(100, { length: 300 });
const LIMITED = { events: EVENTS, latencyMs: 200 };

describe("Retry-After", () => {
  const asks = (status: number, seconds: string): Fault => ({
    kind: "status",
    status,
    headers: { "retry-after": seconds },
  });

  it.each([429, 503, 500, 202])("of a %i is waited for, shown, and uses up one attempt", async (status) => {
    await using connection = await connect({
      faults: [{ match: { path: "list" }, fault: asks(status, "100") }],
    });
    const { service, simulator, waits, log } = connection;

    await service.list();

    const [, refused, served] = simulator.requests;
    expect((served?.arrivedAtMs ?? 0) - (refused?.answeredAtMs ?? 0)).toBeGreaterThanOrEqual(100_000);
    expect(waits[0]?.kind).toBe("retry-after");
    expect(log.text).toContain(`GET /v1/events: status ${status}; next attempt in 100 s`);
    expect(service.counts.retries).toBe(1);
  });

  it.each(["seconds", "x-ratelimit-reset"] as const)(
    "of a service that counts requests is obeyed, said as %s",
    async (retryAfter) => {
      const windowMs = 600_000;
      await using connection = await connect(
        { events: EVENTS.slice(0, 12), limits: { requestsPerWindow: 10, windowMs, retryAfter } },
        { limits: { windowMs } },
      );
      const { service, simulator } = connection;

      const fetched = await fetchAll(service, 1);

      expect(texts(fetched)).toEqual(truth(simulator));
      expect(simulator.counts.requestsDuringRetryAfter).toBe(0);
      expect(connection.waits[0]?.kind).toBe("retry-after");
      // Longer than a first pause that nothing asks for.
      expect(Number(/"delayMs":(\d+)/.exec(connection.log.text)?.[1])).toBeGreaterThan(10_000);
    },
  );

  it.each([{}, { "retry-after": "0" }])(
    "that names no time in a 429 (%j) is not said to be asked for",
    async (headers) => {
      await using connection = await connect({
        faults: [{ match: { path: "list" }, fault: { kind: "status", status: 429, headers } }],
      });

      await connection.service.list();

      expect(connection.waits[0]?.kind).toBe("throttled");
    },
  );

  it("stops requests that wait for the rate limiter, too", async () => {
    const clock = new ManualClock(1_000_000);
    const transport = scriptedTransport((name, nth) =>
      name === "b" && nth === 1 ? { status: 503, headers: { "retry-after": "100" } } : undefined,
    );
    const limits = { requestsPerMinute: 3, share: 1 };
    await using connection = await connect({ clock }, { transport, limits });
    const { service } = connection;

    await service.detail("a");
    const rest = [service.detail("b"), service.detail("c")];
    await turnsOfTheLoop(5);
    clock.advance(99_999);
    await turnsOfTheLoop(5);
    expect(transport.sent.map(([name]) => name)).toEqual(["login", "a", "b"]);
    clock.advance(1);
    await Promise.all(rest);

    // In either order: both waited for the same instant.
    expect(transport.sent.map(([name]) => name).toSorted()).toEqual(["a", "b", "b", "c", "login"]);
  });

  it("stops all requests, unrelated ones included", async () => {
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
});

describe("a refusal that asks to wait", () => {
  it.each([
    [403, { "retry-after": "100" }],
    [404, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "50" }],
  ])("holds all requests back: %i, %j", async (status, headers) => {
    const clock = new ManualClock(1_000_000);
    const transport = scriptedTransport((name) => (name === "b" ? { status, headers } : undefined));
    await using connection = await connect({ clock }, { transport });
    const { service } = connection;
    await service.detail("a");

    const refused = await service.detail("b");
    const next = service.detail("c");
    await turnsOfTheLoop(5);

    expect(refused).toMatchObject({ kind: "left-out" });
    expect(transport.sent.map(([name]) => name)).toEqual(["login", "a", "b"]);
    clock.advance(100_000);
    expect(await next).toMatchObject({ kind: "event" });
  });

  it("and no other answer between, for more than 15 minutes ends the run", async () => {
    const clock = new ManualClock(1_000_000);
    const transport = scriptedTransport((name) =>
      name === "login" ? undefined : { status: 403, headers: { "retry-after": "600" } },
    );
    await using connection = await connect({ clock }, { transport });
    await connection.service.detail("a");
    clock.advance(600_000);

    await expect(connection.service.detail("b")).rejects.toMatchObject({ code: "THROTTLED" });
  });
});

describe("a service that answers with 503 what comes too fast, as nginx does", () => {
  it("is asked more slowly, and answers all", async () => {
    await using connection = await connect({
      clock: acceleratedClock(20),
      events: EVENTS,
      limits: { requestsPerWindow: 1, windowMs: 200, status: 503, retryAfter: "none" },
    });

    const fetched = await fetchAll(connection.service, 16);

    expect(texts(fetched)).toEqual(truth(connection.simulator));
    expect(connection.service.counts.retries).toBeLessThan(60);
  });
});

describe("a question that is asked again", () => {
  it.each([
    ["first", undefined],
    ["again", "no-cache"],
    ["control", "no-cache"],
  ] as const)("says to caches whether they may answer: %s, %s", async (question, said) => {
    const sent: (string | undefined)[] = [];
    const behind = scriptedTransport();
    const transport: Transport = {
      send: (request) => {
        sent.push(request.headers["cache-control"]);
        return behind.send(request);
      },
      close: async () => undefined,
    };
    await using connection = await connect({}, { transport });

    await connection.service.detail("a", undefined, question);

    expect(sent).toEqual([undefined, said]);
  });

  it("as a control question has one attempt", async () => {
    const transport = scriptedTransport((name) => (name === "a" ? { status: 500 } : undefined));
    await using connection = await connect({}, { transport });

    const error = await errorOf(connection.service.detail("a", undefined, "control"));

    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE", fields: { attempts: 1, status: 500 } });
    expect(transport.sent).toHaveLength(2);
  });
});

describe("a request that is throttled", () => {
  const [victim = ""] = EVENTS.map(({ uuid }) => uuid);

  it.each([60_000, 600_000, 3_600_000])(
    "without a Retry-After is tried for a window (%i ms) before the run ends",
    async (windowMs) => {
      const clock = new ManualClock(0);
      const sentAtMs: number[] = [];
      const transport = scriptedTransport((name) => {
        if (name === victim) sentAtMs.push(clock.monotonicMs());
        return name === victim ? { status: 429 } : undefined;
      });
      const random = { next: () => 0.5, token: () => "" };
      const limits = { windowMs, requestsPerMinute: 200 };
      await using connection = await connect({ clock }, { transport, random, limits });

      const ended = errorOf(connection.service.detail(victim));
      await turnsOfTheLoop(5);
      const waitMs = connection.rateLimiter.waitMs(1);
      for (let n = 0; n < 260; n += 1) {
        clock.advance(windowMs / 200);
        await turnsOfTheLoop(2);
      }

      expect(await ended).toMatchObject({ code: "THROTTLED", fields: { attempts: 6 } });
      expect(waitMs).toBe(windowMs / 120);
      expect(sentAtMs).toHaveLength(6);
      expect((sentAtMs.at(-1) ?? 0) / windowMs).toBeGreaterThan(1.25);
    },
  );

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

  it("ends the run after six attempts when no others get through [D18]", async () => {
    await using connection = await connect({ events: EVENTS.slice(0, 1), faults: [throttled(Infinity)] });

    const error = await errorOf(fetchAll(connection.service, 1));

    expect(error).toMatchObject({ code: "THROTTLED", fields: { attempts: 6, status: 429 } });
    expect(connection.simulator.counts.details).toBe(6);
  });
});

const turnsOfTheLoop = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};
