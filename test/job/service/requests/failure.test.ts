import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NoResponse, type Transport } from "../../../../lambdas/job/service/http/transport.ts";
import {
  retryAfterMs,
  retryDelayMs,
  statusClass,
  throttledDelayMs,
} from "../../../../lambdas/job/service/requests/failure.ts";
import { connect, errorOf } from "../connection.ts";
import { httpServer } from "../http/local-server.ts";
import { proxyServer } from "../http/proxy-server.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";
import { tlsServer } from "../http/tls-server.ts";

const HOST = "service.test:8443";

/** A transport that fails like this each time, after so many responses. */
const failing = (error: NoResponse, afterResponses = 0): Transport & { readonly attempts: () => number } => {
  const inner = scriptedTransport();
  let attempts = 0;
  return {
    send: async (request) => {
      if (inner.sent.length < afterResponses) return inner.send(request);
      attempts += 1;
      throw error;
    },
    close: inner.close,
    attempts: () => attempts,
  };
};

describe("a connection that no retry can fix", () => {
  it.each([
    [
      "SELF_SIGNED_CERT_IN_CHAIN",
      `the certificate of ${HOST} is not from an authority`,
      "NODE_EXTRA_CA_CERTS",
    ],
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      `the certificate of ${HOST} is not from an authority`,
      "NODE_EXTRA_CA_CERTS",
    ],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", `the certificate of ${HOST} is not from`, "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", `the certificate of ${HOST} is not from`, "NODE_EXTRA_CA_CERTS"],
    ["CERT_HAS_EXPIRED", `the certificate of ${HOST} has expired`, "this machine's clock"],
    ["CERT_NOT_YET_VALID", `the certificate of ${HOST} is not valid yet`, "this machine's clock"],
    [
      "ERR_TLS_CERT_ALTNAME_INVALID",
      `the certificate of ${HOST} is for other hosts`,
      "the host of --base-url",
    ],
    ["CERT_REVOKED", `the certificate of ${HOST} is not valid`, "Ask the operator"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", `${HOST} does not use TLS`, "the port of --base-url"],
    ["EPROTO", `${HOST} does not use TLS`, "the port of --base-url"],
    ["ENOTFOUND", "the host service.test was not found", "HTTPS_PROXY"],
  ])("such as %s ends the run after one attempt", async (reason, problem, remedy) => {
    const transport = failing(new NoResponse(reason));
    await using connection = await connect({}, { baseUrl: `https://${HOST}`, transport });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      isRetryable: true,
      fields: { request: "POST /v1/auth/login", attempts: 1, cause: reason },
    });
    expect(error).toHaveProperty(
      "message",
      expect.stringContaining(`POST /v1/auth/login failed: ${problem}`),
    );
    expect(error).toHaveProperty("message", expect.stringContaining(remedy));
    expect(transport.attempts()).toBe(1);
  });

  it.each([
    ["PROXY_STATUS_407", "the proxy http://proxy.test:3128 requires a user name and a password"],
    ["PROXY_STATUS_403", "the proxy http://proxy.test:3128 does not permit connections to the service"],
    ["ENOTFOUND", "the host of the proxy http://proxy.test:3128 was not found"],
    [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "the certificate of the proxy http://proxy.test:3128 is not from an authority",
    ],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "the proxy http://proxy.test:3128 does not use TLS"],
  ])("for the proxy's sake, such as %s, ends the run after one attempt", async (reason, problem) => {
    const transport = failing(new NoResponse(reason, "http://proxy.test:3128"));
    await using connection = await connect({}, { baseUrl: `https://${HOST}`, transport });

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringContaining(problem));
    expect(transport.attempts()).toBe(1);
  });

  it("is one with a certificate of an unknown authority", async () => {
    await using target = await httpServer((_, response) => response.end("[]"));
    await using server = await tlsServer("service", target.url);
    await using connection = await connect({}, { baseUrl: server.url });

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringContaining("NODE_EXTRA_CA_CERTS"));
    expect(connection.service.counts).toMatchObject({ requests: 1, retries: 0 });
  });

  it.each(["https:", "http:"])("is one with %s to a port for the other", async (protocol) => {
    await using target = await httpServer((_, response) => response.end("[]"));
    await using tls = await tlsServer("service", target.url);
    const baseUrl =
      protocol === "https:" ? target.url.replace("http:", "https:") : tls.url.replace("https:", "http:");
    await using connection = await connect({}, { baseUrl });

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty(
      "message",
      expect.stringMatching(protocol === "https:" ? /does not use TLS/ : /must begin with https:/),
    );
    expect(connection.service.counts).toMatchObject({ requests: 1, retries: 0 });
  });
});

describe("a connection that a retry may fix", () => {
  it.each(["ENOTFOUND", "CONNECTION_LOST"])(
    "is one that ends with %s after a response has come",
    async (reason) => {
      const transport = failing(new NoResponse(reason), 1);
      await using connection = await connect({}, { transport });

      const error = await errorOf(connection.service.list());

      expect(error).toHaveProperty("message", expect.stringMatching(/^GET \/v1\/events failed 6 times/));
      expect(transport.attempts()).toBe(6);
    },
  );

  it("is one that a proxy does not open; the error names the proxy without its credentials", async () => {
    await using proxy = await proxyServer(502);
    const https = proxy.url.replace("//", "//user:secret@");
    await using connection = await connect(
      {},
      { baseUrl: "https://service.test", proxies: { http: undefined, https, none: undefined } },
    );

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty(
      "message",
      `POST /v1/auth/login failed 6 times, the last time with no connection through the proxy ${proxy.url} ` +
        `(PROXY_STATUS_502). Check the proxy ${proxy.url}, which HTTPS_PROXY names, then run again. To reach the ` +
        "service directly, add its host to NO_PROXY.",
    );
    expect(proxy.requests).toHaveLength(6);
  });
});

const NOW = Date.parse("2026-11-21T06:00:00.000Z");

describe("what to do with a status", () => {
  it.each([
    ["read", [200, 201, 204, 299]],
    ["renew", [401]],
    ["retry", [408, 425, 429, 500, 501, 502, 503, 504, 520, 599]],
    ["redirect", [300, 301, 302, 303, 304, 307, 308]],
    ["refused", [400, 402, 403, 404, 405, 406, 409, 410, 418, 422, 451, 600, 999]],
  ])("%s: %j", (expected, statuses) => {
    expect(statuses.map(statusClass)).toEqual(statuses.map(() => expected));
  });
});

describe("the delay before the next attempt", () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [5, 16_000],
    [6, 30_000],
    [1_000, 30_000],
  ])("after %i failures is anything up to %i ms", (failures, ceilingMs) => {
    const delayFor = (number: number): number =>
      retryDelayMs(failures, { next: () => number, token: () => "" });

    expect(delayFor(0)).toBe(0);
    expect(delayFor(0.5)).toBe(ceilingMs / 2);
    expect(delayFor(1 - Number.EPSILON)).toBe(ceilingMs - 1);
  });

  it("is a whole number from 0 to 30 s, whatever the failures and the dice", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, number) => {
          const delayMs = retryDelayMs(failures, { next: () => number, token: () => "" });

          return Number.isInteger(delayMs) && delayMs >= 0 && delayMs < 30_000;
        },
      ),
    );
  });
});

describe("the delay after a 429 that does not say how long to wait", () => {
  const ceilings = (windowMs: number): readonly number[] =>
    [1, 2, 3, 4, 5].map(
      (failures) => 1 + throttledDelayMs(failures, windowMs, { next: () => 1 - 1e-12, token: () => "" }),
    );

  it.each([
    { windowMs: 10_000, expected: [1_000, 2_000, 4_000, 8_000, 16_000] },
    { windowMs: 60_000, expected: [1_000, 2_000, 4_000, 8_000, 16_000] },
    { windowMs: 600_000, expected: [19_000, 38_000, 76_000, 152_000, 304_000] },
    { windowMs: 3_600_000, expected: [28_000, 56_000, 112_000, 224_000, 448_000] },
  ])("grows with a window of $windowMs ms", ({ windowMs, expected }) => {
    expect(ceilings(windowMs)).toEqual(expected);
  });

  it("lasts about a window in all, and never more than 15 minutes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 60_000, max: 3_600_000 }), (windowMs) => {
        const most = ceilings(windowMs).reduce((sum, ms) => sum + ms);

        expect(most).toBeLessThanOrEqual(15 * 60_000);
        expect(most).toBeGreaterThanOrEqual(Math.min(windowMs, 14 * 60_000) * 0.5);
      }),
    );
  });
});

describe("Retry-After", () => {
  const DATE = "Sat, 21 Nov 2026 06:00:00 GMT";
  it.each([
    ["0", undefined, 0],
    ["12", undefined, 12_000],
    [" 12 ", undefined, 12_000],
    ["9".repeat(400), undefined, Number.POSITIVE_INFINITY],
    ["Sat, 21 Nov 2026 06:00:12 GMT", undefined, 12_000],
    ["Saturday, 21-Nov-26 06:00:12 GMT", undefined, 12_000],
    ["Sat Nov 21 06:00:12 2026", undefined, 12_000],
    ["Tue Nov  3 06:00:12 2026", undefined, 0],
    ["Sat, 21 Nov 2026 05:00:00 GMT", undefined, 0],
    ["Sat, 21 Nov 2026 07:00:12 GMT", "Sat, 21 Nov 2026 07:00:00 GMT", 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", DATE, 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", "yesterday", 12_000],
    ["", undefined, undefined],
    ["-1", undefined, undefined],
    ["1.5", undefined, undefined],
    ["5 s", undefined, undefined],
    ["soon", undefined, undefined],
    ["2026-11-21T06:00:12Z", undefined, undefined],
    ["Sat, 21 Nov 2026 06:00:12", undefined, undefined],
    ["Sat, 99 Nov 2026 06:00:12 GMT", undefined, undefined],
  ])("%j with Date %j asks for %s ms", (value, date, expected) => {
    const headers = new Map([
      ["retry-after", [value]],
      ...(date === undefined ? [] : [["date", [date]] as const]),
    ]);

    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });

  it("asks for nothing where it is missing", () => {
    expect(retryAfterMs(new Map(), NOW)).toBeUndefined();
  });
});
