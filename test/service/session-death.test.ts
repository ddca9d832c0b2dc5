import { describe, expect, it } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, texts, truth } from "./connection.ts";

const EVENTS = makeEvents(12, { length: 300 });

describe("a session that dies", () => {
  // Requests on protected endpoints: the list is number 1, the details are the rest.
  const every = Array.from({ length: 1 + EVENTS.length }, (_, index) => index + 1);

  it.each(every)("at request %i costs one more login, with 1 in flight", async (nth) => {
    await using connection = await connect({ events: EVENTS });
    const { service, simulator } = connection;
    const path = nth === 1 ? ("list" as const) : ("detail" as const);
    simulator.configure({
      faults: [{ match: { path, nth: nth === 1 ? 1 : nth - 1 }, fault: { kind: "end-sessions" } }],
    });

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts).toMatchObject({
      logins: 2,
      unauthenticated: 1,
      requests: 16,
    });
    expect(service.counts).toMatchObject({ logins: 2, retries: 0 });
  });

  const many = makeEvents(130, { length: 300 });
  it.each([1, 2, 3, 33, 64, 65, 66, 100, 129, 130])(
    "at detail %i costs one more login, with 64 in flight",
    async (nth) => {
      await using connection = await connect({
        events: many,
        latencyMs: ({ n }) => 500 + (n % 7) * 400,
        faults: [{ match: { path: "detail", nth }, fault: { kind: "end-sessions" } }],
      });
      const { service, simulator } = connection;

      const fetched = await fetchAll(service, 64);

      expect(texts(fetched)).toEqual(truth(simulator));
      expect(simulator.counts.logins).toBe(2);
      expect(service.counts).toMatchObject({ logins: 2, retries: 0 });
    },
  );

  it("whenever another login happens is renewed each time, and the run ends complete", async () => {
    await using connection = await connect({ events: EVENTS, session: { maxRequests: 1 } });
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 4);

    // One for the list and one for each detail: every session is good for one request.
    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts.loginsAccepted).toBe(1 + EVENTS.length);
  });

  it("by time is renewed", async () => {
    await using connection = await connect({
      events: EVENTS,
      session: { maxAgeMs: 15_000 },
      latencyMs: 4_000,
    });
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts.logins).toBeGreaterThan(1);
    expect(simulator.counts.logins).toBe(service.counts.logins);
  });

  it("while a new one's first request gets no answer is renewed once", async () => {
    await using connection = await connect({
      events: makeEvents(40),
      latencyMs: 500,
      faults: [{ match: { path: "detail", nth: 10 }, fault: { kind: "end-sessions" } }],
    });
    const { service, simulator } = connection;
    let logins = 0;
    simulator.configure({
      onRequest: ({ endpoint }) => {
        if (endpoint !== "login") return;
        logins += 1;
        // The request after the second login is the new session's first.
        if (logins === 2)
          simulator.configure({ faults: [{ match: { path: "detail" }, fault: { kind: "reset" } }] });
      },
    });

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts.logins).toBe(2);
  });
});

describe("an event that answers 401 for ever", () => {
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
