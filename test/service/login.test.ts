import { describe, expect, it } from "vitest";
import type { Fault } from "../simulator/faults.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { connect, errorOf, said, secrets } from "./connection.ts";
import { httpServer, rawServer } from "./local-server.ts";

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: "status",
  status: code,
  headers,
});

describe("the login", () => {
  it("is one request, and its cookies go with every later one", async () => {
    await using connection = await connect({ events: makeEvents(3) });
    const { service, simulator } = connection;

    await service.logIn();
    const { events } = await service.list();
    for (const { requestAs } of events) await service.detail(requestAs);

    expect(simulator.counts).toMatchObject({ requests: 5, logins: 1, loginsAccepted: 1, unauthenticated: 0 });
    expect(service.counts).toMatchObject({ requests: 5, logins: 1, retries: 0, throttled: 0 });
  });

  it("sends the envelope of the interface, and says who we are", async () => {
    const seen: unknown[] = [];
    await using server = await httpServer(async (request, response) => {
      seen.push(request.method, request.url, (await request.toArray()).join(""), request.headers);
      response.setHeader("set-cookie", "s=1").end();
    });
    await using connection = await connect({}, { baseUrl: `${server.url}/api/v1/`, version: "1.2.3" });

    await connection.service.logIn();

    expect(seen).toEqual([
      "POST",
      "/api/v1/auth/login",
      '{"meta":{"version":"v1"},"data":{"email":"canary.user@example.test","password":"canary:Pässword-5f1d"}}',
      expect.objectContaining({
        "content-type": "application/json",
        accept: "application/json",
        "accept-encoding": "gzip, br",
        "user-agent": "brand-events-sync/1.2.3",
      }),
    ]);
  });

  it.each([
    [
      "404",
      { account: { password: "another" } },
      "LOGIN_REFUSED",
      "wrong password or unknown e-mail address",
    ],
    ["401", { account: { disabled: true } }, "ACCOUNT_DISABLED", "the account is disabled"],
  ])("that is refused with %s is not repeated, however many wait for it", async (_, change, code, text) => {
    await using connection = await connect({ events: makeEvents(3) });
    const { service, simulator, log } = connection;
    simulator.configure(change);

    const errors = await Promise.all([
      errorOf(service.list()),
      errorOf(service.detail("a")),
      errorOf(service.logIn()),
    ]);
    errors.push(await errorOf(service.list()));

    expect(simulator.counts).toMatchObject({ requests: 1, logins: 1 });
    for (const error of errors) {
      expect(error).toMatchObject({ code, message: expect.stringContaining(text), mendedByRetry: false });
      for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
    }
  });

  it.each([
    [status(403), "UNEXPECTED_RESPONSE", "status 403"],
    [status(400), "UNEXPECTED_RESPONSE", "status 400"],
    [status(405), "UNEXPECTED_RESPONSE", "status 405"],
    [
      status(302, { location: "https://sso.example.test/in?token=canary-body#x" }),
      "UNEXPECTED_RESPONSE",
      "https://sso.example.test/in,",
    ],
    [status(304), "UNEXPECTED_RESPONSE", "nowhere"],
    [status(302, { location: "https://[" }), "UNEXPECTED_RESPONSE", "no URL"],
    [status(302, { location: "/in;jsessionid=canary-cookie" }), "UNEXPECTED_RESPONSE", "/in,"],
    [status(429), "THROTTLED", "Run again later"],
    [status(429, { "retry-after": "90" }), "THROTTLED", "wait 90 s"],
    [status(500), "SERVICE_UNAVAILABLE", "status 500"],
    [status(503, { "retry-after": "1" }), "SERVICE_UNAVAILABLE", "status 503"],
    [status(408), "SERVICE_UNAVAILABLE", "status 408"],
    [{ kind: "html" }, "UNEXPECTED_RESPONSE", "set no cookie"],
  ] satisfies readonly (readonly [Fault, string, string])[])(
    "%j ends with %s: %s",
    async (fault, code, text) => {
      await using connection = await connect({
        faults: [{ match: { path: "login", times: Infinity }, fault }],
      });
      const { service, simulator, log } = connection;

      const error = await errorOf(service.list());

      expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
      expect(simulator.counts.requests).toBe(1);
      for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
    },
  );

  it.each(["reset", "hang"] as const)("is repeated where no answer came (%s)", async (kind) => {
    await using connection = await connect(
      { faults: [{ match: { path: "login", times: 2 }, fault: { kind } }] },
      { timeoutMs: 100 },
    );
    const { service, simulator } = connection;

    await service.list();

    expect(simulator.counts).toMatchObject({ logins: 3, list: 1 });
    expect(service.counts).toMatchObject({ requests: 4, retries: 2, logins: 1 });
  });

  it("is given up after six attempts without an answer", async () => {
    await using connection = await connect({}, { baseUrl: "http://127.0.0.1:1" });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringMatching(/^POST \/v1\/auth\/login failed 6 times.*ECONNREFUSED.*--base-url/),
      fields: { attempts: 6, cause: "ECONNREFUSED" },
    });
    expect(connection.service.counts).toMatchObject({ requests: 6, retries: 5, logins: 1 });
  });

  it.each(["truncate", "reset-mid-body", "hang-mid-body"] as const)(
    "is an answer as soon as its headers are there (%s)",
    async (kind) => {
      await using connection = await connect(
        { faults: [{ match: { path: "login" }, fault: { kind } }] },
        { timeoutMs: 100 },
      );

      await connection.service.list();

      expect(connection.simulator.counts).toMatchObject({ logins: 1, list: 1 });
    },
  );
});

describe("session cookies", () => {
  it.each([
    ["without a path", "HttpOnly"],
    ["for the whole host", "Path=/; Secure; HttpOnly; SameSite=Strict"],
    ["for the events only", "Path=/v1/events"],
    ["that last", "Path=/; Max-Age=3600"],
  ])("%s are sent", async (_, attributes) => {
    await using connection = await connect({ session: { attributes } });

    await connection.service.list();

    expect(connection.simulator.counts).toMatchObject({ logins: 1, unauthenticated: 0 });
  });

  it.each([
    ["for another path", "Path=/admin"],
    ["for another host", "Domain=example.test; Path=/"],
    ["that are over", "Path=/; Max-Age=0"],
  ])("%s are no session", async (_, attributes) => {
    await using connection = await connect({ session: { attributes } });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("set 2 cookies"),
    });
    for (const secret of secrets) expect(said(error, connection.log)).not.toContain(secret);
  });

  it("that an answer renews are taken over", async () => {
    const cookies: (string | undefined)[] = [];
    await using server = await httpServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.setHeader("set-cookie", `s=${cookies.length}`).end("[]");
    });
    await using connection = await connect({}, { baseUrl: server.url });

    await connection.service.list();
    await connection.service.list();

    expect(cookies).toEqual([undefined, "s=1", "s=2"]);
  });

  it("that a refusal clears are not mixed with those of the next login", async () => {
    await using connection = await connect({ events: makeEvents(2), session: { clearsCookies: true } });
    const { service, simulator } = connection;

    await service.list();
    simulator.endSessions();
    await service.list();

    expect(simulator.counts).toMatchObject({ logins: 2, unauthenticated: 1 });
  });

  it("stay with the exact origin", async () => {
    const reached: string[] = [];
    await using other = await rawServer(() => reached.push("other"));
    await using connection = await connect({
      events: makeEvents(2),
      list: { pageSize: 1, nextUrl: (relative) => other.url + relative },
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining(other.url) });
    expect(reached).toEqual([]);
  });
});

describe("HTTP Basic", () => {
  it("sends the credentials with every request and never logs in", async () => {
    await using connection = await connect({ events: makeEvents(2) }, { method: "basic" });
    const { service, simulator } = connection;

    await service.logIn();
    await service.list();

    expect(simulator.counts).toMatchObject({ requests: 1, logins: 0, unauthenticated: 0 });
  });

  it("ends the run with the first 401", async () => {
    await using connection = await connect({ account: { methods: ["session"] } }, { method: "basic" });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("method basic"),
    });
    expect(connection.simulator.counts.requests).toBe(1);
    for (const secret of secrets) expect(said(error, connection.log)).not.toContain(secret);
  });
});
