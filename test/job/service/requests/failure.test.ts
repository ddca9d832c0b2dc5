import { describe, expect, it } from "vitest";
import { NoResponse, type Transport } from "../../../../lambdas/job/service/http/transport.ts";
import { redirected, shownTarget } from "../../../../lambdas/job/service/requests/failure.ts";
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

const UUID = "6f1ed002-ab59-4f2c-9f1f-11111111111F";
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
    ["/secret/v1/events", "another path of https://api.example.com"],
    ["/v1/events/secret", "another path of https://api.example.com"],
    ["/v1/events;secret", "another path of https://api.example.com"],
    ["/v1/EVENTS", "another path of https://api.example.com"],
    ["/", "another path of https://api.example.com"],
    ["/v1/events/?secret", "https://api.example.com/v1/events/"],
    ["auth/login#secret", "https://api.example.com/v1/auth/login"],
    [`/v1/events/${UUID}`, `https://api.example.com/v1/events/${UUID}`],
    ["https://api.example.com./v1/events/", "https://api.example.com/v1/events/"],
    [`/${"x".repeat(16_000)}`, "another path of https://api.example.com"],
    [`https://${"x.".repeat(8_000)}test/`, "an address that is too long to show"],
    ["https://[", "something that is not a web address"],
    ["javascript:secret", "something that is not a web address"],
    [undefined, "nowhere (no Location header)"],
  ])("to %s is said to lead to %s", (location, target) => {
    const error = errorFor(location);

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { target } });
    expect(error.message).toContain(`a redirect to ${target}, which is not followed`);
    expect(error.message).not.toContain("secret");
  });

  it.each([
    [
      "https://a.test/brand/v1/auth/login",
      "https://a.test/brand/v1/events",
      "https://a.test/brand/v1/events",
    ],
    ["https://a.test/brand/v1/events", "https://a.test/v1/events", "another path of https://a.test"],
    ["https://a.test/brand/v1/events", "https://a.test/other/v1/events", "another path of https://a.test"],
    ["https://a.test/in/oauth/token", "https://a.test/in/oauth/token/", "https://a.test/in/oauth/token/"],
    ["https://a.test/in/oauth/token", "https://a.test/in/oauth", "another path of https://a.test"],
    ["https://a.test/pages/2", "https://a.test/pages/2", "another path of https://a.test"],
  ])("of %s to %s is said to lead to %s", (asked, target, shown) => {
    expect(shownTarget(new URL(target), new URL(asked))).toBe(shown);
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
    const { message } = errorFor(location);

    expect(message).toContain(meaning);
    expect(message).toMatch(/Check .*--base-url.* right, ask the service's operator\.$/);
    expect(message).not.toContain("belong to");
  });

  it("to another origin says that the credentials do not go there", () => {
    expect(errorFor("https://api.example.com:8443/login").message).toContain("belong to --base-url only");
  });

  it("is no advice to trust where it leads: the operator knows the address", () => {
    const { message } = errorFor("https://evil.test/");

    expect(message).toContain("Ask the service's operator");
    expect(message).not.toMatch(/set --base-url/i);
  });
});
