// The address is named where nothing right has ever come from it; else the request, the moment and the operator.

import { describe, expect, it } from "vitest";
import { type Fault, status } from "../../../simulator/faults.ts";
import { ManualClock, PatientClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { said } from "../../../words/said.ts";
import { type ConnectionOptions, connect, errorOf, fetchAll } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const NOW = Date.UTC(2026, 10, 21, 6);
const EVENTS = makeEvents(3, { length: 400 });
const LAST = EVENTS.map(({ uuid }) => uuid).reduce((a, b) => (a > b ? a : b));

const html = { kind: "html" } as const;
const toLogin = { kind: "redirect", location: "/login" } as const;
const elsewhere = { kind: "redirect", location: "https://sso.example.test/" } as const;

/** The message for an answer to each request of a kind. */
const messageFor = async (path: "login" | "list" | "detail", fault: Fault, options: ConnectionOptions) => {
  const clock = new PatientClock(NOW);
  const match = path === "detail" ? { uuid: LAST, times: Infinity } : { path, times: Infinity };
  await using connection = await connect({ clock, events: EVENTS, faults: [{ match, fault }] }, options);
  const error = await errorOf(fetchAll(connection.service, 1));
  return said(error);
};

const NEW = [
  ["login", status(500)],
  ["login", status(418)],
  ["login", toLogin],
  ["login", html],
  ["list", status(500)],
  ["list", status(404)],
  ["list", status(440)],
  ["list", toLogin],
  ["list", html],
] as const;

describe("an address", () => {
  it.each(NEW)("that has never answered rightly is to be checked: %s, %j", async (path, fault) => {
    expect(await messageFor(path, fault, {})).toContain("--base-url");
  });

  it.each([
    ...NEW,
    ["login", elsewhere],
    ["list", elsewhere],
    ["login", status(404)],
    ["login", status(401)],
  ] as const)("that what readers see came from is right: %s, %j", async (path, fault) => {
    const message = await messageFor(path, fault, { hasWorked: async () => true });

    const request = path === "login" ? "POST /v1/auth/login" : "GET /v1/events";
    expect(message).not.toMatch(/check (?:that )?--base-url/i);
    expect(message).toMatch(
      new RegExp(
        `This address has answered rightly before: if it happens again, ask the service's operator about ${request} at 2026-11-21T06:\\d\\d:\\d\\d.\\d{3}Z\\.$`,
      ),
    );
  });

  it.each([status(500), toLogin, elsewhere, html, status(401)])(
    "that has answered rightly in this run is right, and the event is named: %j",
    async (fault) => {
      const message = await messageFor("detail", fault, {});

      expect(message).not.toMatch(/check (?:that )?--base-url/i);
      expect(message).toMatch(
        new RegExp(
          `ask the service's operator about GET /v1/events/${LAST} at 2026-11-21T06|^GET /v1/events/${LAST} .* ask the service's operator about this one`,
        ),
      );
    },
  );

  it("that is right is not to be checked where there is no connection", async () => {
    const options = { baseUrl: "http://127.0.0.1:1", hasWorked: async () => true };
    await using connection = await connect({ clock: new PatientClock(NOW) }, options);

    const message = said(await errorOf(connection.service.list()));

    expect(message).toContain(
      ". Check the network between here and the service, then run again. This address",
    );
  });

  it("is asked about only where an error depends on it", async () => {
    let asked = 0;
    const hasWorked = async () => {
      asked += 1;
      return true;
    };
    await using connection = await connect({ events: EVENTS }, { hasWorked });

    await fetchAll(connection.service, 1);

    expect(asked).toBe(0);
  });
});

describe("an answer that a cache has kept", () => {
  it.each([
    ["600", 0],
    ["601", 1],
    ["86400", 1],
    ["soon", 0],
    ["-700", 0],
  ])("for %s s is warned of %i times, however many there are", async (age, warnings) => {
    const transport = scriptedTransport(() => ({ headers: { age } }));
    await using connection = await connect({ clock: new ManualClock(NOW) }, { transport });

    for (const name of ["a", "b", "c"]) await connection.service.detail(name);

    expect(connection.log.text.match(/A cache before the service/g) ?? []).toHaveLength(warnings);
  });
});
