import { describe, expect, it } from "vitest";
import { NoResponse } from "../../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../../lambdas/job/service/http/undici-transport.ts";
import { isUnanswered, isUnreached } from "../../../../lambdas/job/service/requests/connection-problem.ts";
import { BadStatus } from "../../../../lambdas/job/service/requests/failure.ts";
import { PatientClock } from "../../../simulator/manual-clock.ts";
import { type Connection, type ConnectionOptions, connect, errorOf } from "../connection.ts";
import { type FailureOf, failingTransport, scriptedTransport } from "../http/scripted-transport.ts";

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

describe("a failure", () => {
  it.each([
    ["ECONNREFUSED", true, true],
    ["EAI_AGAIN", true, true],
    ["EHOSTDOWN", true, true],
    ["EHOSTUNREACH", true, true],
    ["ENETDOWN", true, true],
    ["ENETUNREACH", true, true],
    ["CONNECTION_LOST", true, false],
    ["ECONNABORTED", true, false],
    ["ECONNRESET", true, false],
    ["EPIPE", true, false],
    ["ETIMEDOUT", true, false],
    ["TIMED_OUT", true, false],
    ["UND_ERR_CONNECT_TIMEOUT", true, false],
    ["ENOTFOUND", false, false],
    ["NOT_HTTP", false, false],
    ["INVALID_HTTP", false, false],
    ["UND_ERR_HEADERS_OVERFLOW", false, false],
    ["CERT_HAS_EXPIRED", false, false],
    ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", false, false],
  ])("with %s: time alone may help %s, the request was never sent %s", (reason, unanswered, unreached) => {
    const failure = new NoResponse(reason);

    expect([isUnanswered(failure), isUnreached(failure)]).toEqual([unanswered, unreached]);
  });

  it.each(["ECONNREFUSED", "TIMED_OUT"])("of a proxy waits for a person: %s", (reason) => {
    const failure = new NoResponse(reason, "http://proxy.test:3128");

    expect([isUnanswered(failure), isUnreached(failure)]).toEqual([false, false]);
  });

  it("that is a response is none of them", () => {
    expect([isUnanswered(new BadStatus(503)), isUnreached(new BadStatus(503))]).toEqual([false, false]);
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
    await using connection = await unattended(() => "CONNECTION_LOST");

    await errorOf(connection.service.logIn());

    const pauses = connection.sentAtMs.map((ms, n, all) => ms - (all[n - 1] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(connection.sentAtMs.at(-1)).toBe(10 * MINUTE);
  });

  it.each([
    ["ECONNREFUSED", "Check --base-url and the network between here and the service, then run again."],
    ["EAI_AGAIN", "No DNS server answered"],
    ["CONNECTION_LOST", "Check --base-url and the network"],
  ])("fails when the time is over, and says then what %s may be about", async (reason, says) => {
    await using connection = await unattended(() => reason);
    const { service, sentAtMs } = connection;

    const error = await errorOf(service.logIn());

    expect(error).toMatchObject({
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
    ["INVALID_HTTP", 6],
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

  it("for a service that responds with 503", async () => {
    const transport = scriptedTransport(() => ({ status: 503 }));
    await using connection = await unattended(() => undefined, { transport, method: "basic" });

    await errorOf(connection.service.list());

    expect(connection.service.counts.requests).toBe(6);
  });
});
