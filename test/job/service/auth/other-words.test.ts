// Services that say otherwise than with 401 that a session is over: with 419, with 440, or with a redirect to a login page.

import { describe, expect, it } from "vitest";
import type { Fault } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, texts, truth } from "../connection.ts";
import { ALL_METHODS, RENEWED_METHODS } from "./method-traits.ts";

const EVENTS = makeEvents(60, { length: 300 });
const WORDS = [
  { kind: "status", status: 419 },
  { kind: "status", status: 440 },
  { kind: "redirect", location: "/login?expired=1" },
] as const satisfies readonly Fault[];
const named = WORDS.map((fault) => [fault.kind === "status" ? fault.status : fault.kind, fault] as const);

describe("a session that the service ends", () => {
  it.each([419, 440, "redirect"] as const)("with %s is renewed once for all requests", async (ends) => {
    const faults = [{ match: { path: "detail", nth: 20 }, fault: { kind: "end-sessions" } }] as const;
    await using connection = await connect({ events: EVENTS, latencyMs: 500, session: { ends }, faults });
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts.logins).toBe(2);
    expect(service.counts.retries).toBe(0);
  });
});

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
    await using connection = await connect({ faults }, { method });

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringContaining("probably leads to a login page"));
    expect(error).toHaveProperty("message", expect.not.stringContaining("belong to"));
  },
);
