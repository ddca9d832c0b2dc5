import { describe, expect, it } from "vitest";
import { NoResponse } from "../../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../../lambdas/job/service/http/undici-transport.ts";
import { BadStatus } from "../../../../lambdas/job/service/requests/failure.ts";
import { isPutOff, mayPass } from "../../../../lambdas/job/service/requests/retry.ts";
import { PatientClock } from "../../../simulator/manual-clock.ts";
import { told } from "../../../words/said.ts";
import { type Connection, type ConnectionOptions, connect, errorOf } from "../connection.ts";
import {
  type FailureOf,
  failingTransport,
  type Script,
  scriptedTransport,
} from "../http/scripted-transport.ts";

const MINUTE = 60_000;
const CLOSED = "http://127.0.0.1:1";
const LINE = "A run without a terminal keeps trying, for at most 10 min more";

interface Unattended extends Connection {
  /** When each request was sent, in ms since the start. */
  readonly sentAtMs: readonly number[];
}

/** A client that keeps trying for ten minutes. */
const unattended = async (failureOf: FailureOf, options: ConnectionOptions = {}): Promise<Unattended> => {
  const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
  const { transport, sentAtMs, beganAtMs } = failingTransport(clock, failureOf);
  const keepTryingUntilMs = beganAtMs + 10 * MINUTE;
  return { ...(await connect({ clock }, { transport, keepTryingUntilMs, ...options })), sentAtMs };
};

const UNSENT = true;

describe("a failure", () => {
  it.each([
    ["ECONNREFUSED", UNSENT, true, true],
    ["ECONNRESET", UNSENT, true, true],
    ["ECONNRESET", false, true, false],
    ["CONNECTION_LOST", false, true, false],
    ["TIMED_OUT", UNSENT, true, true],
    ["TIMED_OUT", false, true, false],
    ["ENOTFOUND", UNSENT, false, false],
    ["CERT_HAS_EXPIRED", UNSENT, false, false],
    ["INVALID_HTTP", false, false, false],
    ["UND_ERR_HEADERS_OVERFLOW", false, false, false],
  ])(
    "with %s (not one byte was sent: %s) is waited for: a GET %s, a POST %s",
    (reason, isUnsent, get, post) => {
      const failure = new NoResponse(reason, undefined, undefined, isUnsent);

      expect([mayPass(failure, "GET"), mayPass(failure, "POST")]).toEqual([get, post]);
      expect(isPutOff(failure)).toBe(isUnsent);
    },
  );

  it("of a proxy waits for a person", () => {
    const failure = new NoResponse("ECONNREFUSED", "http://proxy.test:3128", undefined, UNSENT);

    expect([mayPass(failure, "GET"), mayPass(failure, "POST"), isPutOff(failure)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each([
    [503, undefined, true],
    [429, 1_000, true],
    [429, 0, false],
    [429, undefined, false],
    [500, 1_000, false],
    [502, undefined, false],
    [408, undefined, false],
  ])("that is status %i with a wait of %s ms was put off: %s", (status, waitMs, expected) => {
    const failure = new BadStatus(status, waitMs);

    expect([isPutOff(failure), mayPass(failure, "GET"), mayPass(failure, "POST")]).toEqual(
      Array(3).fill(expected),
    );
  });
});

describe("a start without a terminal, while no response has come", () => {
  it("keeps trying until a service works, and says once why it waits", async () => {
    await using connection = await unattended((ms) => (ms < 5 * MINUTE ? "ECONNREFUSED" : undefined));
    const { service, log, sentAtMs } = connection;

    await service.logIn();

    expect(sentAtMs.at(-1)).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(service.counts).toMatchObject({ logins: 1, retries: sentAtMs.length - 1 });
    expect(log.text.split(`POST /v1/auth/login: no response (ECONNREFUSED). ${LINE}`)).toHaveLength(2);
  });

  it("pauses for half a minute at most, and for the last time until the end", async () => {
    await using connection = await unattended(() => "ECONNREFUSED");

    await errorOf(connection.service.logIn());

    const pauses = connection.sentAtMs.map((ms, n, all) => ms - (all[n - 1] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(connection.sentAtMs.at(-1)).toBe(10 * MINUTE);
  });

  it.each([
    ["ECONNREFUSED", "Check --base-url and the network between here and the service, then run again."],
    ["EAI_AGAIN", "No DNS server answered"],
  ])("fails when the time is over, and says then what %s may be about", async (reason, says) => {
    await using connection = await unattended(() => reason);
    const { service, sentAtMs } = connection;

    const error = await errorOf(service.logIn());

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining(says),
      fields: { attempts: sentAtMs.length, cause: reason },
    });
  });

  it("has six attempts as always once the time is over", async () => {
    await using connection = await unattended(() => "ECONNREFUSED", { keepTryingUntilMs: 0 });

    const error = await errorOf(connection.service.logIn());

    expect(error).toHaveProperty("message", expect.stringContaining("failed 6 times"));
    expect(connection.log.text).not.toContain(LINE);
  });

  it("stops at once at a signal", async () => {
    const stop = new AbortController();
    await using connection = await unattended((ms) => {
      if (ms > MINUTE) stop.abort(new Error("stopped"));
      return "ECONNREFUSED";
    });

    await expect(connection.service.logIn(stop.signal)).rejects.toThrow("stopped");

    expect(connection.sentAtMs.filter((ms) => ms > MINUTE)).toHaveLength(1);
  });
});

describe("a start without a terminal waits no longer than others", () => {
  it.each([
    ["ENOTFOUND", 1],
    ["CERT_HAS_EXPIRED", 1],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", 1],
    ["INVALID_HTTP", 2],
  ])("for what a person must do something about: %s", async (reason, requests) => {
    await using connection = await unattended(() => reason);

    await errorOf(connection.service.logIn());

    expect(connection.sentAtMs).toHaveLength(requests);
  });

  it("once a response has come", async () => {
    await using connection = await unattended((_, nth) => (nth === 1 ? undefined : "ECONNREFUSED"));

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringMatching(/^GET \/v1\/events failed 6 times/));
  });

  it("for a proxy that is not there", async () => {
    const transport = new UndiciTransport({ connections: 1, timeoutMs: 1_000, proxy: new URL(CLOSED) });
    await using connection = await unattended(() => undefined, {
      transport,
      baseUrl: "https://service.test",
    });

    await errorOf(connection.service.logIn());

    expect(connection.service.counts.requests).toBe(6);
  });

  it("for a login whose answer is lost: it is sent once more", async () => {
    await using connection = await unattended(() => "CONNECTION_LOST");

    await errorOf(connection.service.logIn());

    expect(connection.sentAtMs).toHaveLength(2);
  });
});

describe("a start without a terminal, while the service puts off whatever it is asked", () => {
  it.each([
    ["session", 503, undefined],
    ["basic", 503, undefined],
    ["session", 503, "20"],
    ["session", 429, "20"],
  ] as const)("keeps trying until it works (%s, status %i, Retry-After %s)", async (method, status, wait) => {
    const headers = wait === undefined ? {} : { "retry-after": wait };
    await using connection = await puttingOff(5 * MINUTE, { status, headers }, { method });

    await connection.service.list();

    expect(connection.log.text.match(/keeps trying/g)).toHaveLength(1);
  });

  it("fails after ten minutes", async () => {
    await using connection = await puttingOff(Infinity, { status: 503 });
    const { clock } = connection;
    const beganAtMs = clock.monotonicMs();

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(clock.monotonicMs() - beganAtMs).toBe(10 * MINUTE);
  });

  it("has six attempts once the service has answered", async () => {
    await using connection = await puttingOff(Infinity, { status: 503 }, {}, "events");

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringMatching(/^GET \/v1\/events failed 6 times/));
  });
});

/** A service that answers so at first. */
async function puttingOff(forMs: number, answer: Script, options: ConnectionOptions = {}, only?: string) {
  const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
  const beganAtMs = clock.monotonicMs();
  const transport = scriptedTransport((name) =>
    (only ?? name) === name && clock.monotonicMs() - beganAtMs < forMs ? answer : { body: "[]" },
  );
  const keepTryingUntilMs = beganAtMs + 10 * MINUTE;
  return { ...(await connect({ clock }, { transport, keepTryingUntilMs, ...options })), clock };
}
