import { describe, expect, it } from "vitest";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll } from "../connection.ts";

describe("an event that is always answered with 401", () => {
  it.each([1, 64])("ends the run after one more login, with %i in flight", async (atOnce) => {
    const events = makeEvents(100);
    const victim = events[50]?.uuid ?? "";
    await using connection = await connect({
      events,
      latencyMs: 500,
      faults: [{ match: { uuid: victim, times: Infinity }, fault: { kind: "status", status: 401 } }],
    });
    const { service, simulator } = connection;

    const error = await errorOf(fetchAll(service, atOnce));

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(simulator.counts.logins).toBe(2);
    expect(simulator.counts.detailsByUuid.get(victim)).toBe(2);
  });

  it("ends the run after two more logins when the session dies as well", async () => {
    const events = makeEvents(100);
    const victim = events[80]?.uuid ?? "";
    await using connection = await connect({
      events,
      latencyMs: 500,
      faults: [
        { match: { uuid: victim, times: Infinity }, fault: { kind: "status", status: 401 } },
        { match: { path: "detail", nth: 20 }, fault: { kind: "end-sessions" } },
      ],
    });
    const { service, simulator } = connection;

    const error = await errorOf(fetchAll(service, 16));

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(simulator.counts.logins).toBeLessThanOrEqual(3);
  });

  it("on every endpoint ends the run after two logins and two requests", async () => {
    await using connection = await connect({
      faults: [{ match: { path: "list", times: Infinity }, fault: { kind: "status", status: 401 } }],
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(connection.simulator.counts).toMatchObject({ logins: 2, list: 2, requests: 4 });
  });
});
