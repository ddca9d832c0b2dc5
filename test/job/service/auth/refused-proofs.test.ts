// What services answer to a session, token or password that they do not accept: for a while, for ever, or in other words than
// with 401.

import { describe, expect, it } from "vitest";
import type { Method } from "../../../../lambdas/job/credentials/credentials.ts";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import type { Fault } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { told } from "../../../words/said.ts";
import {
  ALL_METHODS,
  type Connection,
  connect,
  errorOf,
  failedList,
  fetchAll,
  RENEWED_METHODS,
  texts,
  truth,
} from "../connection.ts";

const FEW = makeEvents(40, { length: 300 });
const EVENTS = makeEvents(60, { length: 300 });

/** Slow enough for the pauses to be longer than the requests. */
const connectTo = (method: Method, knownAfterMs: number): Promise<Connection> =>
  connect(
    { clock: acceleratedClock(100), events: FEW, session: { knownAfterMs } },
    { method, identity: { accessToken: { knownAfterMs } } },
  );

/** What the error says that may be behind it. */
const PERHAPS: Readonly<Record<Method, string>> = {
  session: "another program that logs in with the same account, where the service allows one session",
  oauth: "--auth-url",
  basic: "",
};

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

    expect(told(error)).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining(PERHAPS[method]),
    });
    expect(renewals(connection)).toBe(1);
  });
});

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

const WORDS = [
  { kind: "status", status: 419 },
  { kind: "status", status: 440 },
  { kind: "redirect", location: "/login?expired=1" },
] as const satisfies readonly Fault[];
const named = WORDS.map((fault) => [fault.kind === "status" ? fault.status : fault.kind, fault] as const);

describe.each(ALL_METHODS)(
  "with the method $method, requests that were accepted",
  ({ method, renewals, isRenewed }) => {
    it.each(named)("and then one that is answered with %s are all fetched", async (_, fault) => {
      const faults = [{ match: { path: "detail", nth: 20 }, fault }] as const;
      await using connection = await connect({ events: EVENTS, faults }, { method });

      const fetched = await fetchAll(connection.service, 8);

      expect(texts(fetched)).toEqual(truth(connection.simulator));
      expect(renewals(connection)).toBe(isRenewed ? 1 : 0);
    });

    it.each(named)(
      "and then one that is always answered with %s end the run, as what it is",
      async (_, fault) => {
        const victim = EVENTS[30]?.uuid ?? "";
        const faults = [{ match: { uuid: victim, times: Infinity }, fault }] as const;
        await using connection = await connect({ events: EVENTS, faults }, { method });

        const error = await errorOf(fetchAll(connection.service, 8));

        expect(error).toMatchObject({
          code: "UNEXPECTED_RESPONSE",
          message: expect.stringContaining(victim),
        });
        expect(renewals(connection)).toBe(isRenewed ? 1 : 0);
        expect(connection.simulator.counts.detailsByUuid.get(victim)).toBe(2);
      },
    );
  },
);

it.each(named)("a stored token whose first request is answered with %s is renewed", async (_, fault) => {
  const faults = [{ match: { path: "list" }, fault }] as const;
  await using connection = await connect({ events: EVENTS, faults }, { method: "oauth" });

  await connection.service.list();

  expect(connection.authorized.provider.counts.refreshes).toBe(1);
});

it.each(RENEWED_METHODS)(
  "a redirect within the service is not said to be about --base-url only (method $method)",
  async ({ method }) => {
    const fault = { kind: "redirect", location: "/login" } as const;
    const faults = [{ match: { path: "list", times: Infinity }, fault }] as const;

    const { error } = await failedList({ faults }, { method });

    expect(error).toHaveProperty("message", expect.stringContaining("probably leads to a login page"));
    expect(error).toHaveProperty("message", expect.not.stringContaining("belong to"));
  },
);
