import { describe, expect, it } from "vitest";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll } from "../connection.ts";
import { ALL_METHODS } from "./method-traits.ts";

describe.each(ALL_METHODS)("with the method $method, an event that is always answered with 401", (traits) => {
  const { method, isRenewed, renewals } = traits;

  it.each([1, 64])("ends the run after one renewal at most, with %i in flight", async (atOnce) => {
    const events = makeEvents(100);
    const victim = events[50]?.uuid ?? "";
    const fault = { kind: "status", status: 401 } as const;
    const faults = [{ match: { uuid: victim, times: Infinity }, fault }];
    await using connection = await connect({ events, latencyMs: 500, faults }, { method });
    const { service, simulator } = connection;

    const error = await errorOf(fetchAll(service, atOnce));

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(renewals(connection)).toBe(isRenewed ? 1 : 0);
    // A renewed proof is tried three times. Without a renewal the one that was accepted is tried once more.
    expect(simulator.counts.detailsByUuid.get(victim)).toBe(isRenewed ? 4 : 2);
  });

  it("ends the run after two renewals at most when the session or token dies as well", async () => {
    const events = makeEvents(100);
    const victim = events[80]?.uuid ?? "";
    const faults = [
      { match: { uuid: victim, times: Infinity }, fault: { kind: "status", status: 401 } },
      { match: { path: "detail", nth: 20 }, fault: { kind: "end-sessions" } },
    ] as const;
    await using connection = await connect({ events, latencyMs: 500, faults }, { method });
    const { service } = connection;

    const error = await errorOf(fetchAll(service, 16));

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(renewals(connection)).toBeLessThanOrEqual(2);
  });

  it("on every endpoint ends the run after one renewal at most, and three requests with each new proof", async () => {
    const fault = { kind: "status", status: 401 } as const;
    const faults = [{ match: { path: "list", times: Infinity }, fault }] as const;
    await using connection = await connect({ faults }, { method });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(renewals(connection)).toBe(isRenewed ? 1 : 0);
    // The stored token is not new.
    const requests = { session: 3 + 3, oauth: 1 + 3, basic: 1 };
    expect(connection.simulator.counts.list).toBe(requests[method]);
  });
});
