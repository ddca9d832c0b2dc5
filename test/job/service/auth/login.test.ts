import { describe, expect, it } from "vitest";
import type { Fault } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, said, secrets } from "../connection.ts";
import { httpServer } from "../http/local-server.ts";

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

  it("leaves its connection to the list", async () => {
    const ports: unknown[] = [];
    await using server = await httpServer((request, response) => {
      ports.push(request.socket.remotePort);
      response.setHeader("set-cookie", "s=1").end("[]");
    });
    await using connection = await connect({}, { baseUrl: server.url });

    await connection.service.list();

    expect(ports).toEqual([ports[0], ports[0]]);
  });

  it("sends the envelope of the interface and a User-Agent", async () => {
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
      expect(error).toMatchObject({ code, message: expect.stringContaining(text), isRetryable: false });
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
      "https://sso.example.test,",
    ],
    [status(304), "UNEXPECTED_RESPONSE", "nowhere"],
    [status(302, { location: "https://[" }), "UNEXPECTED_RESPONSE", "not a web address"],
    [status(302, { location: "/in;jsessionid=canary-cookie" }), "UNEXPECTED_RESPONSE", "/in,"],
    [status(429), "THROTTLED", "Run again later"],
    [status(429, { "retry-after": "90" }), "THROTTLED", "Run again in 90 s"],
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

  it.each(["reset", "hang"] as const)("is retried if no response came (%s)", async (kind) => {
    await using connection = await connect(
      { faults: [{ match: { path: "login", times: 2 }, fault: { kind } }] },
      { timeoutMs: 100 },
    );
    const { service, simulator } = connection;

    await service.list();

    expect(simulator.counts).toMatchObject({ logins: 3, list: 1 });
    expect(service.counts).toMatchObject({ requests: 4, retries: 2, logins: 1 });
  });

  it("fails after six attempts without a response", async () => {
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
    "succeeds as soon as its headers have come (%s)",
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
