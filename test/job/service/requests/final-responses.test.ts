import { describe, expect, it } from "vitest";
import { redirected } from "../../../../lambdas/job/service/requests/failure.ts";
import { CANARY } from "../../../simulator/account.ts";
import { type Fault, status } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { said as saidBy, told } from "../../../words/said.ts";
import { connect, errorOf, failedList, fetchAll, said, secrets } from "../connection.ts";
import { httpServer } from "../http/local-server.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const EVENTS = makeEvents(3, { length: 400 });
describe("a response that no retry can fix", () => {
  const wrong: readonly (readonly ["list" | "detail", Fault, string])[] = [
    ["list", status(404), "--base-url"],
    ["list", status(410), "status 410"],
    ["list", status(400), "status 400"],
    ["detail", status(400), "status 400"],
    ["detail", status(418), "status 418"],
    [
      "list",
      { kind: "redirect", location: "https://sso.example.test/?t=canary-body" },
      "https://sso.example.test,",
    ],
    ["list", { kind: "redirect", location: "/login", status: 307 }, "a login page"],
    ["list", status(419), "do not accept the session"],
    ["list", status(440), "do not accept the session"],
    ["list", { kind: "body", text: '{"error":"canary-body"}' }, "--list-pointer"],
    ["detail", { kind: "body", text: '{"error":"canary-body"}' }, "--detail-pointer"],
  ];
  it.each(wrong)("to a %s request ends the run at once: %j, %s", async (path, fault, text) => {
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { path, times: Infinity }, fault }],
    });
    const { service, simulator, log } = connection;

    const error = await errorOf(fetchAll(service, 1));

    const code = "UNEXPECTED_RESPONSE";
    expect(told(error)).toMatchObject({ code, message: expect.stringContaining(text), isRetryable: false });
    expect(simulator.counts.faults).toBe(1);
    for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
  });
});

it("a refusal of the list (403) ends the run when it is repeated after five seconds", async () => {
  const faults = (times: number) => [{ match: { path: "list", times }, fault: status(403) } as const];
  await using once = await connect({ events: EVENTS, faults: faults(1) });
  await using twice = await connect({ events: EVENTS, faults: faults(2) });

  const list = await once.service.list();
  const error = await errorOf(twice.service.list());

  expect(list.events).toHaveLength(3);
  const [, first, second] = once.simulator.requests;
  expect((second?.arrivedAtMs ?? 0) - (first?.arrivedAtMs ?? 0)).toBeGreaterThanOrEqual(5_000);
  expect(error).toMatchObject({
    code: "NOT_ENTITLED",
    message: expect.stringContaining("may not list events"),
    isRetryable: false,
  });
});

describe("one event that is answered in an odd way, after others were read", () => {
  const uuid = EVENTS.map((event) => event.uuid).reduce((a, b) => (a > b ? a : b));
  const refused = `GET /v1/events/${uuid}`;
  it.each<readonly [number, "UNAUTHENTICATED" | "UNEXPECTED_RESPONSE", string]>([
    [401, "UNAUTHENTICATED", `The refused request is ${refused}, and others were answered`],
    [418, "UNEXPECTED_RESPONSE", "2 other events were read in the same way"],
    [304, "UNEXPECTED_RESPONSE", "Look for a cache or a proxy that answers instead of the service"],
  ])("is named, with what that means: status %i, %s, %s", async (code, error, text) => {
    const faults = [{ match: { uuid, times: Infinity }, fault: status(code) }];
    await using connection = await connect({ events: EVENTS, faults });

    const found = await errorOf(fetchAll(connection.service, 1));

    expect(found).toMatchObject({ code: error, fields: { request: refused } });
    expect(told(found)).toHaveProperty("message", expect.stringContaining(text));
    expect(found).toHaveProperty("message", expect.stringContaining(refused));
  });
});

describe("a host that answers, but is not the service", () => {
  it.each([
    ["session", 200, "<html>", "UNEXPECTED_RESPONSE"],
    ["session", 401, "", "ACCOUNT_DISABLED"],
    ["session", 403, "", "UNEXPECTED_RESPONSE"],
    ["session", 404, "", "LOGIN_REFUSED"],
    ["session", 405, "", "UNEXPECTED_RESPONSE"],
    ["session", 501, "", "SERVICE_UNAVAILABLE"],
    ["session", 503, "", "SERVICE_UNAVAILABLE"],
    ["basic", 200, "<html>", "SERVICE_UNAVAILABLE"],
    ["basic", 200, '{"status":"ok"}', "UNEXPECTED_RESPONSE"],
    ["basic", 204, "", "SERVICE_UNAVAILABLE"],
    ["basic", 401, "", "UNAUTHENTICATED"],
    ["basic", 403, "", "NOT_ENTITLED"],
    ["basic", 404, "", "UNEXPECTED_RESPONSE"],
    ["basic", 503, "", "SERVICE_UNAVAILABLE"],
  ] as const)("leads the reader to --base-url (%s, %i %s)", async (method, answer, body, code) => {
    await using server = await httpServer((_, response) => response.writeHead(answer).end(body));
    const { email, password } = CANARY;

    const { error } = await failedList({}, { baseUrl: server.url, credentials: { method, email, password } });

    expect(told(error)).toMatchObject({ code, message: expect.stringContaining("--base-url") });
  });
});

describe("an unexpected error", () => {
  it.each(["login", "events"])("is neither retried nor swallowed (%s)", async (endpoint) => {
    const mistake = new TypeError("not of the network");
    const transport = scriptedTransport((name) => {
      if (name === endpoint) throw mistake;
      return undefined;
    });
    await using connection = await connect({}, { transport });

    expect(await errorOf(connection.service.list())).toBe(mistake);
    expect(transport.sent.at(-1)?.[0]).toBe(endpoint);
    expect(connection.service.counts.retries).toBe(0);
  });
});

const URL_OF_LIST = new URL("https://api.example.com/v1/events?is_listed=true");
const errorFor = (location: string | undefined) => {
  const headers = new Map(location === undefined ? [] : [["location", [location]] as const]);
  return redirected("GET /v1/events", URL_OF_LIST, {
    status: 302,
    headers,
    body: { kind: "unread" },
    decodedBytes: 0,
  });
};

describe("a redirect", () => {
  it.each([
    ["https://evil.test/v1/events?token=secret#secret", "https://evil.test"],
    ["https://user:secret@evil.test/secret;jsessionid=secret", "https://evil.test"],
    ["//evil.test/secret", "https://evil.test"],
    ["http://api.example.com/secret", "http://api.example.com"],
    ["https://api.example.com:8443/secret", "https://api.example.com:8443"],
    ["/login;jsessionid=secret?next=secret", "another path of https://api.example.com"],
    ["/v1/events;secret", "another path of https://api.example.com"],
    ["/", "another path of https://api.example.com"],
    ["/v1/events/?secret", "another path of https://api.example.com"],
    ["https://api.example.com./v1/events/", "another path of https://api.example.com"],
    [`/${"x".repeat(16_000)}`, "another path of https://api.example.com"],
    [`https://${"x.".repeat(8_000)}test/`, "something that is not a web address"],
    ["https://[", "something that is not a web address"],
    ["javascript:secret", "something that is not a web address"],
    [undefined, "nowhere (no Location header)"],
  ])("to %s is said to lead to %s", (location, target) => {
    const error = errorFor(location);

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { target } });
    expect(error.message).toContain(`a redirect to ${target}, which is not followed`);
    expect(error.message).not.toContain("secret");
  });

  const LOGIN =
    "probably leads to a login page, because the session, token or password of this request was not";
  it.each([
    ["/login", LOGIN],
    ["https://api.example.com/v1/events/login", LOGIN],
    ["http://api.example.com/login", LOGIN],
    ["/v1/events", LOGIN],
    ["/v1/events/", "adds a slash to the end of the path or takes it away"],
    [
      "http://api.example.com/v1/events/?is_listed=true",
      "adds a slash to the end of the path or takes it away",
    ],
  ])("within the service, to %s, says what that probably means and what to check", (location, meaning) => {
    const message = saidBy(errorFor(location));

    expect(message).toContain(meaning);
    expect(message).toMatch(/Check .*--base-url.* right, ask the service's operator\.$/);
    expect(message).not.toContain("belong to");
  });

  it("of one event to another says that it may have been merged, and nothing of a login page", () => {
    const url = new URL("https://api.example.com/v1/events/a");
    const headers = new Map([["location", ["/v1/events/b?x=1"]]]);
    const { message } = redirected("GET /v1/events/a", url, {
      ...{ status: 301, headers },
      ...{ body: { kind: "unread" }, decodedBytes: 0 },
    });

    expect(message).toContain("perhaps because this one was merged with another");
    expect(message).not.toContain("login");
  });

  it("to another origin says that the credentials do not go there", () => {
    expect(errorFor("https://api.example.com:8443/login").message).toContain(
      "belong to the address of the service only",
    );
  });

  it("is no advice to trust where it leads: the operator knows the address", () => {
    const message = saidBy(errorFor("https://evil.test/"));

    expect(message).toContain("Ask the service's operator");
    expect(message).not.toMatch(/set --base-url/i);
  });
});

describe("a service client", () => {
  it.each([[{ listPointer: "data" }], [{ detailPointer: "/~2" }]])(
    "is refused with the settings %j",
    async (options) => {
      await expect(connect({}, options)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    },
  );
});
