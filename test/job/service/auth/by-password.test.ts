import { describe, expect, it } from "vitest";
import { type Fault, status } from "../../../simulator/faults.ts";
import { PatientClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { told } from "../../../words/said.ts";
import { inTimeEnough } from "../../runtime/time-enough.ts";
import { connect, errorOf, failedList, fetchAll, said, secrets } from "../connection.ts";
import { httpServer } from "../http/local-server.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

describe("HTTP Basic", () => {
  it("sends the credentials with every request and never logs in", async () => {
    await using connection = await connect({ events: makeEvents(2) }, { method: "basic" });
    const { service, simulator } = connection;

    await service.logIn();
    await service.list();

    expect(simulator.counts).toMatchObject({ requests: 1, logins: 0, unauthenticated: 0 });
  });

  it("ends the run with the first 401 if nothing was accepted before", async () => {
    const busy = { match: { path: "list" }, fault: { kind: "status", status: 503 } } as const;

    const { error, text, served } = await failedList(
      { account: { methods: ["session"] }, faults: [busy] },
      { method: "basic" },
    );

    expect(error).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("method basic"),
    });
    expect(served.unauthenticated).toBe(1);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it("asks once more, with one request after a second, when a 401 follows answers that worked", async () => {
    const fault = { kind: "status", status: 401 } as const;
    const faults = [{ match: { path: "detail", nth: 20 }, fault }] as const;
    await using connection = await connect({ events: makeEvents(60), faults }, { method: "basic" });
    const { service, simulator, log } = connection;

    const { details } = await fetchAll(service, 8);

    expect(details.size).toBe(60);
    expect(simulator.counts).toMatchObject({ unauthenticated: 1, details: 61 });
    expect(log.text).toContain("not authenticated (basic); the same request again in 1 s");
  });
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
    await using connection = await connect({}, { baseUrl: `${server.url}/api` });

    await connection.service.logIn();

    expect(seen).toEqual([
      "POST",
      "/api/v1/auth/login",
      '{"meta":{"version":"v1"},"data":{"email":"canary.user@example.test","password":"canary:Pässword-5f1d"}}',
      expect.objectContaining({
        "content-type": "application/json",
        accept: "application/json",
        "accept-encoding": "gzip, br",
        "user-agent": expect.stringMatching(/^brand-events-sync\/\d+\.\d+\.\d+$/),
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
    [status(403), "status 403"],
    [status(400), "status 400"],
    [status(405), "status 405"],
    [
      status(302, { location: "https://sso.example.test/in?token=canary-body#x" }),
      "https://sso.example.test,",
    ],
    [status(304), "nowhere"],
    [status(302, { location: "https://[" }), "not a web address"],
    [status(302, { location: "/in;jsessionid=canary-cookie" }), "another path of http://127.0.0.1"],
    [status(419), "status 419"],
    [{ kind: "html" }, "status 200 and 0 cookies, none of which is valid"],
  ] satisfies readonly (readonly [Fault, string])[])("%j ends the run: %s", async (fault, text) => {
    await using connection = await connect({
      faults: [{ match: { path: "login", times: Infinity }, fault }],
    });
    const { service, simulator, log } = connection;

    const error = await errorOf(service.list());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining(text) });
    expect(simulator.counts.requests).toBe(1);
    for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
  });

  const PUT_OFF = [status(503), status(503, { "retry-after": "1" }), status(429, { "retry-after": "90" })];
  const UNSURE = [408, 425, 500, 501, 502, 504, 520, 429].map((code) => status(code));
  const LOST = [{ kind: "reset" }, { kind: "hang" }] satisfies readonly Fault[];

  it.each([
    ...PUT_OFF.map((fault) => [fault, 6] as const),
    [status(429, { "ratelimit-reset": "90" }), 6] as const,
    ...[...UNSURE, ...LOST].map((fault) => [fault, 2] as const),
  ])("that is answered with %j is sent %i times at most", async (fault, most) => {
    const faults = [{ match: { path: "login", times: Infinity }, fault } as const];
    const { error, served, text } = await inTimeEnough(100, async (timeoutMs) => {
      const failed = await failedList({ faults }, fault.kind === "hang" ? { timeoutMs } : {});
      return fault.kind === "hang" && failed.served.requests < most ? undefined : failed;
    });

    const isThrottled = fault.kind === "status" && fault.status === 429;
    expect(error).toMatchObject({
      code: isThrottled ? "THROTTLED" : "SERVICE_UNAVAILABLE",
      message: expect.stringMatching(new RegExp(`^POST /v1/auth/login failed ${most} times`)),
    });
    expect(served.requests).toBe(most);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it.each([
    ...PUT_OFF.map((fault) => [fault, 5] as const),
    ...[...UNSURE, ...LOST].map((fault) => [fault, 1] as const),
  ])("that is answered with %j is one login, whatever comes after %i of them", async (fault, times) => {
    const faults = [{ match: { path: "login", times }, fault } as const];
    const { service, simulator } = await inTimeEnough(100, async (timeoutMs) => {
      await using connection = await connect({ faults }, fault.kind === "hang" ? { timeoutMs } : {});
      await connection.service.list();
      return fault.kind === "hang" && connection.simulator.counts.list > 1 ? undefined : connection;
    });

    expect(simulator.counts).toMatchObject({ logins: times + 1, list: 1 });
    expect(service.counts).toMatchObject({ requests: times + 2, retries: times, logins: 1 });
  });

  it("whose answer was lost is sent once more, however often it is put off as well", async () => {
    const at = (nth: number, fault: Fault) => ({ match: { path: "login", nth }, fault }) as const;
    const faults = [at(1, status(503)), at(2, status(500)), at(3, status(503)), at(4, { kind: "reset" })];

    const { served } = await failedList({ faults });

    expect(served.logins).toBe(4);
  });

  it("that is refused once it was put off is not sent again", async () => {
    const faults = [{ match: { path: "login" }, fault: status(503) }] as const;

    const { error, served } = await failedList({ faults, account: { disabled: true } });

    expect(error).toMatchObject({ code: "ACCOUNT_DISABLED" });
    expect(served.logins).toBe(2);
  });

  it("that is answered with 429 and no time is sent again after a limit window", async () => {
    const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
    const sentAtMs: number[] = [];
    const transport = scriptedTransport((name, nth) => {
      if (name === "login") sentAtMs.push(clock.monotonicMs());
      return name === "login" && nth === 1 ? { status: 429 } : undefined;
    });
    await using connection = await connect({ clock }, { transport, limits: { windowMs: 300_000 } });

    await connection.service.logIn();

    expect((sentAtMs[1] ?? 0) - (sentAtMs[0] ?? 0)).toBe(300_000);
  });

  it("fails after six attempts without a response", async () => {
    const { error, client } = await failedList({}, { baseUrl: "http://127.0.0.1:1" });

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringMatching(/^POST \/v1\/auth\/login failed 6 times.*ECONNREFUSED.*--base-url/),
      fields: { attempts: 6, cause: "ECONNREFUSED" },
    });
    expect(client).toMatchObject({ requests: 6, retries: 5, logins: 1 });
  });

  it.each(["truncate", "reset-mid-body", "hang-mid-body"] as const)(
    "succeeds as soon as its headers have come (%s)",
    async (kind) => {
      const faults = [{ match: { path: "login" }, fault: { kind } } as const];
      const counts = await inTimeEnough(100, async (timeoutMs) => {
        await using connection = await connect({ faults }, { timeoutMs });
        await connection.service.list();
        const { counts } = connection.simulator;
        return counts.requests === 2 ? counts : undefined;
      });

      expect(counts).toMatchObject({ logins: 1, list: 1 });
    },
  );
});

describe("session cookies", () => {
  it("are sent where they are for the events", async () => {
    await using connection = await connect({ session: { attributes: "Path=/v1/events; Secure" } });

    await connection.service.list();

    expect(connection.simulator.counts).toMatchObject({ logins: 1, unauthenticated: 0 });
  });

  it("for another path are no session", async () => {
    const { error, text } = await failedList({ session: { attributes: "Path=/admin" } });

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("2 cookies, none of which is valid"),
    });
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it("that a response renews replace the old ones", async () => {
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

  const cookies = (count: number) =>
    httpServer((_, response) => {
      const values = Array.from({ length: count }, (__, n) => `s${n}=1`);
      response.setHeader("set-cookie", values).end("[]");
    });

  it("may be 50 of one login", async () => {
    await using server = await cookies(50);
    await using connection = await connect({}, { baseUrl: server.url });

    expect(await connection.service.list()).toMatchObject({ events: { length: 0 } });
  });

  it.each([51, 1_000])("are too many where a login sets %i", async (count) => {
    await using server = await cookies(count);

    const { error } = await failedList({}, { baseUrl: server.url });

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining(`${count} cookies, which are more than a session may have`),
    });
  });

  it("for the path of a base URL with umlauts, in UTF-8, are sent", async () => {
    const sent: unknown[] = [];
    await using server = await httpServer((request, response) => {
      sent.push(request.headers.cookie);
      const path = Buffer.from("/bränd s").toString("latin1");
      // With a text as its body Node.js would encode the header as well.
      response.setHeader("set-cookie", `s=1; Path=${path}`).end(Buffer.from("[]"));
    });
    await using connection = await connect({}, { baseUrl: `${server.url}/bränd s` });

    await connection.service.list();

    expect(sent).toEqual([undefined, "s=1"]);
  });
});
