import { afterEach, describe, expect, test } from "vitest";
import { CANARY } from "./account.ts";
import { basic, cookieOf, get, login } from "./browser.ts";
import { ManualClock } from "./manual-clock.ts";
import type { SessionOptions } from "./sessions.ts";
import type { SimulatorOptions } from "./settings.ts";
import { makeEvents } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

let simulator: Simulator;
afterEach(() => simulator.stop());

const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await Simulator.start({ events: makeEvents(3), ...options });
};

const list = async (cookie: string): Promise<number> =>
  (await get(simulator, "/v1/events", { cookie })).status;

describe("login", () => {
  test("answers with two cookies, which together open every protected endpoint", async () => {
    await start();

    const response = await login(simulator);

    const [first, second] = response.headers.getSetCookie();
    expect(response.status).toBe(200);
    expect(first).toMatch(/^bms_session=canary-cookie-[0-9a-f-]{36}; Path=\/; HttpOnly$/);
    expect(second).toMatch(/^bms_check=canary-cookie-[0-9a-f-]{36}; Path=\/; HttpOnly$/);
    expect(await list(cookieOf(response))).toBe(200);
    expect(await list(cookieOf(response).split("; ")[0] ?? "")).toBe(401);
    expect(await list("")).toBe(401);
  });

  test("does not mix the cookies of two sessions", async () => {
    await start();

    const [one, two] = [cookieOf(await login(simulator)), cookieOf(await login(simulator))];

    expect(await list(`${one.split("; ")[0]}; ${two.split("; ")[1]}`)).toBe(401);
    expect(await list(`${one}; ${two}`)).toBe(200);
  });

  test.each([
    ["an unknown e-mail", { email: "no.one@example.test", password: CANARY.password }, "no.one@example.test"],
    ["a wrong password", { email: CANARY.email, password: "x" }, CANARY.email],
  ])("with %s answers 404 and repeats the e-mail", async (_, data, email) => {
    await start();

    const response = await login(simulator, data);

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: `User "${email}" not found`, reference: "canary-body" });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test("of a disabled account answers 401, but only with the right password", async () => {
    await start({ account: { disabled: true } });

    expect((await login(simulator)).status).toBe(401);
    expect((await login(simulator, { email: CANARY.email, password: "x" })).status).toBe(404);
    expect((await get(simulator, "/v1/events")).status).toBe(401);
    expect(simulator.counts).toMatchObject({ logins: 2, loginsAccepted: 0, unauthenticated: 1 });
  });

  test("that a fault answers is not accepted, whatever its status", async () => {
    await start({ faults: [{ match: { path: "login" }, fault: { kind: "html" } }] });

    expect((await login(simulator)).status).toBe(200);
    expect(simulator.counts.loginsAccepted).toBe(0);
  });

  test.each([
    ["no envelope", JSON.stringify({ email: CANARY.email, password: CANARY.password })],
    ["no meta", JSON.stringify({ data: { email: CANARY.email, password: CANARY.password } })],
    ["another version", '{"meta":{"version":"v2"},"data":{"email":"a","password":"b"}}'],
    ["a number as password", '{"meta":{"version":"v1"},"data":{"email":"a","password":1}}'],
    ["null as data", '{"meta":{"version":"v1"},"data":null}'],
    ["no JSON", "email=a&password=b"],
  ])("with %s answers 400", async (_, body) => {
    await start();

    const response = await fetch(`${simulator.url}/v1/auth/login`, { method: "POST", body });

    expect(response.status).toBe(400);
  });
});

describe("HTTP Basic", () => {
  test("opens protected endpoints with the right credentials only", async () => {
    await start();
    const status = async (authorization: string): Promise<number> =>
      (await get(simulator, "/v1/events", { authorization })).status;

    expect(await status(basic(simulator.credentials))).toBe(200);
    expect(await status(basic(simulator.credentials).replace("Basic", "basic"))).toBe(200);
    expect(await status(basic({ email: CANARY.email, password: "x" }))).toBe(401);
    expect(await status("Basic ???")).toBe(401);
    expect(await status("Bearer abc")).toBe(401);
  });

  test("is challenged for in every 401", async () => {
    await start();

    const response = await get(simulator, "/v1/events", {});

    expect(response.headers.get("www-authenticate")).toBe('Basic realm="service", charset="UTF-8"');
  });
});

test("an account uses the methods that it has", async () => {
  await start({ account: { email: "other@example.test", methods: ["basic"] } });
  expect((await login(simulator)).status).toBe(404);
  expect((await get(simulator, "/v1/events")).status).toBe(200);

  simulator.configure({ account: { methods: ["session"] } });
  expect(simulator.credentials.email).toBe("other@example.test");
  expect((await login(simulator)).status).toBe(200);
  expect((await get(simulator, "/v1/events")).status).toBe(401);
});

describe("a session", () => {
  test.each<readonly [what: string, session: SessionOptions, asked: readonly (readonly [number, number])[]]>([
    [
      "ends when it has its age",
      { maxAgeMs: 1_000 },
      [
        [999, 200],
        [1, 401],
      ],
    ],
    [
      "is known some time after the login",
      { knownAfterMs: 500, maxRequests: 1, ends: 419 },
      [
        [499, 401],
        [1, 200],
      ],
    ],
    [
      "ends after its requests",
      { maxRequests: 2 },
      [
        [0, 200],
        [0, 200],
        [0, 401],
        [0, 401],
      ],
    ],
  ])("%s", async (_, session, asked) => {
    const clock = new ManualClock(0);
    await start({ clock, session });
    const cookie = cookieOf(await login(simulator));

    for (const [laterMs, status] of asked) {
      clock.advance(laterMs);
      expect(await list(cookie)).toBe(status);
    }
    expect(simulator.counts.unauthenticated).toBe(asked.filter(([, status]) => status === 401).length);
  });

  test.each([
    [401, 401, null],
    [419, 419, null],
    [440, 440, null],
    ["redirect", 302, "/login?expired=1"],
  ] as const)(
    "that has ended is answered as chosen (%s); one that never was with 401",
    async (ends, status, location) => {
      await start({ session: { ends } });
      const cookie = cookieOf(await login(simulator));
      simulator.endSessions();

      const response = await fetch(`${simulator.url}/v1/events`, { headers: { cookie }, redirect: "manual" });

      expect([response.status, response.headers.get("location")]).toEqual([status, location]);
      expect(await list("bms_session=none; bms_check=none")).toBe(401);
    },
  );

  test("that is over is not saved by a living one's cookies behind its own", async () => {
    await start();
    const over = cookieOf(await login(simulator));
    simulator.endSessions();
    const living = cookieOf(await login(simulator));

    expect([await list(`${over}; ${living}`), await list(`${living}; ${over}`)]).toEqual([401, 200]);
  });

  test("ends when another login comes, if only one may be", async () => {
    await start();
    const [first, second] = [cookieOf(await login(simulator)), cookieOf(await login(simulator))];
    expect([await list(first), await list(second)]).toEqual([200, 200]);

    simulator.configure({ session: { exclusive: true } });
    const third = cookieOf(await login(simulator));

    expect([await list(first), await list(second), await list(third)]).toEqual([401, 401, 200]);
  });

  test("ends on command, or at a request that a fault names", async () => {
    await start({ faults: [{ match: { path: "list", nth: 2 }, fault: { kind: "end-sessions" } }] });
    const cookie = cookieOf(await login(simulator));
    expect([await list(cookie), await list(cookie)]).toEqual([200, 401]);

    const other = cookieOf(await login(simulator));
    simulator.endSessions();

    expect(await list(other)).toBe(401);
  });

  test("behind a load balancer brings two new cookies beside its own in each response", async () => {
    await start({ hasBalancer: true });

    const logIn = (await login(simulator)).headers.getSetCookie();
    const refused = (await get(simulator, "/v1/events", {})).headers.getSetCookie();

    const names = (cookies: readonly string[]) => cookies.map((cookie) => cookie.split("=")[0]);
    expect(names(logIn)).toEqual(["bms_session", "bms_check", "ALB", "ALBCORS"]);
    expect(names(refused)).toEqual(["ALB", "ALBCORS"]);
    expect(refused[0]).not.toBe(logIn[2]);
  });

  test("has the cookie attributes it is given, and drops its cookies in a 401 if configured", async () => {
    await start({ session: { attributes: "Path=/v1; Secure", clearsCookies: true } });

    const response = await login(simulator);
    const refused = await get(simulator, "/v1/events", {});

    expect(response.headers.getSetCookie()[0]).toMatch(/; Path=\/v1; Secure$/);
    expect(refused.headers.getSetCookie()).toEqual([
      "bms_session=; Path=/v1; Secure; Max-Age=0",
      "bms_check=; Path=/v1; Secure; Max-Age=0",
    ]);
  });
});
