import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, fetchAll, RENEWED_METHODS, texts, truth } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const EVENTS = makeEvents(12, { length: 300 });

describe.each(RENEWED_METHODS)("with the method $method, a session or token that dies", (traits) => {
  const { method, renewals } = traits;
  const first = method === "session" ? 1 : 0;
  // Requests on protected endpoints: the list is number 1, the details are the rest.
  const every = Array.from({ length: 1 + EVENTS.length }, (_, index) => index + 1);

  it.each(every)("at request %i costs one renewal, with 1 in flight", async (nth) => {
    await using connection = await connect({ events: EVENTS }, { method });
    const { service, simulator } = connection;
    const path = nth === 1 ? ("list" as const) : ("detail" as const);
    simulator.configure({
      faults: [{ match: { path, nth: nth === 1 ? 1 : nth - 1 }, fault: { kind: "end-sessions" } }],
    });

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(renewals(connection)).toBe(1);
    // A session that was never accepted is tried three times.
    const refused = nth === 1 && method === "session" ? 3 : 1;
    expect(simulator.counts).toMatchObject({ unauthenticated: refused });
    expect(service.counts).toMatchObject({ logins: first + 1, retries: 0, requests: 14 + refused + first });
  });

  const many = makeEvents(130, { length: 300 });
  it.each([1, 2, 3, 33, 64, 65, 66, 100, 129, 130])(
    "at detail %i costs one renewal, with 64 in flight",
    async (nth) => {
      const faults = [{ match: { path: "detail", nth }, fault: { kind: "end-sessions" } }] as const;
      const latencyMs = ({ n }: { readonly n: number }): number => 500 + (n % 7) * 400;
      await using connection = await connect({ events: many, latencyMs, faults }, { method });
      const { service, simulator } = connection;

      const fetched = await fetchAll(service, 64);

      expect(texts(fetched)).toEqual(truth(simulator));
      expect(renewals(connection)).toBe(1);
      expect(service.counts).toMatchObject({ logins: first + 1, retries: 0 });
    },
  );
});

describe("a fresh session", () => {
  it("is opened before requests are sent that waited for the rate limiter with the old one", async () => {
    const clock = new ManualClock(1_000_000);
    const refusal = Promise.withResolvers<{ status: number }>();
    const transport = scriptedTransport((name, nth) =>
      name === "c" && nth === 1 ? refusal.promise : undefined,
    );
    const limits = { requestsPerMinute: 3, share: 1 };
    await using connection = await connect({ clock }, { limits, transport });
    const { service } = connection;

    await service.detail("a");
    const rest = [service.detail("c"), service.detail("b")];
    await nextTurn();
    refusal.resolve({ status: 401 });
    await nextTurn();
    clock.advance(60_001);
    await Promise.all(rest);

    expect(transport.sent).toEqual([
      ["login", undefined],
      ["a", "s=1"],
      ["c", "s=1"],
      ["login", undefined],
      ["c", "s=2"],
      ["b", "s=2"],
    ]);
  });
});
