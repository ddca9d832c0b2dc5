// A session or token that the service does not know everywhere at first.

import { describe, expect, it } from "vitest";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { type Connection, connect, errorOf, fetchAll, type Method, texts, truth } from "../connection.ts";
import { RENEWED_METHODS } from "./method-traits.ts";

const EVENTS = makeEvents(40, { length: 300 });

/** Slow enough for the pauses to be longer than the requests. */
const connectTo = (method: Method, knownAfterMs: number): Promise<Connection> =>
  connect(
    { clock: acceleratedClock(100), events: EVENTS, session: { knownAfterMs } },
    { method, identity: { accessToken: { knownAfterMs } } },
  );

describe.each(RENEWED_METHODS)("with the method $method, a new session or token", (traits) => {
  const { method, renewals } = traits;

  it.each([1, 16])("that is known 3 s later needs no second login, with %i in flight", async (atOnce) => {
    await using connection = await connectTo(method, 3_000);
    const { service, simulator } = connection;
    // The stored token is older than that.
    if (method === "oauth") simulator.endSessions();
    await service.list();
    const first = renewals(connection);
    simulator.configure({
      faults: [{ match: { path: "detail", nth: 20 }, fault: { kind: "end-sessions" } }],
    });

    const fetched = await fetchAll(service, atOnce);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(renewals(connection)).toBe(first + 1);
    expect(service.counts.retries).toBe(0);
  });

  it("that is never known ends the run, after no more logins than before", async () => {
    await using connection = await connectTo(method, Number.POSITIVE_INFINITY);

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(renewals(connection)).toBe(1);
  });
});

it("a session that is never known is perhaps ended by another program, as the error says", async () => {
  await using connection = await connectTo("session", Number.POSITIVE_INFINITY);

  const error = await errorOf(connection.service.list());

  expect(error).toHaveProperty(
    "message",
    expect.stringContaining(
      "another program that logs in with the same account, where the service allows one session",
    ),
  );
});
