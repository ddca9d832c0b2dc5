import type { TlsOptions } from "node:tls";
import { describe, expect, it } from "vitest";
import { NoResponse, type Transport } from "../../../../lambdas/job/service/http/transport.ts";
import { told } from "../../../words/said.ts";
import { connect, errorOf, failedList } from "../connection.ts";
import {
  type Certificate,
  httpServer,
  type LocalServer,
  proxyServer,
  rawServer,
  SHORT_DH,
  tlsServer,
} from "../http/local-server.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

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
  const ITS = `the certificate of ${HOST}`;
  it.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", `${ITS} is not from an authority`, "NODE_EXTRA_CA_CERTS"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", `${ITS} is not from an authority`, "NODE_EXTRA_CA_CERTS"],
    [
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      `${ITS} came without that of its issuer`,
      "Ask the operator to send the whole chain",
    ],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", `${ITS} is not from`, "NODE_EXTRA_CA_CERTS"],
    ["CERT_HAS_EXPIRED", `${ITS} is not valid now (CERT_HAS_EXPIRED)`, "this machine's clock"],
    ["CERT_NOT_YET_VALID", `${ITS} is not valid now (CERT_NOT_YET_VALID)`, "this machine's clock"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", `${ITS} is for other hosts`, "the host of --base-url"],
    ["CERT_REVOKED", `${ITS} is not valid`, "Ask the operator"],
    ["PATH_LENGTH_EXCEEDED", `${ITS} is not valid`, "Ask the operator"],
    ["UNSPECIFIED", `${ITS} is not valid`, "Ask the operator"],
    ["CERT_TOO_WEAK", `${ITS}, or that of its authority, is too weak`, "a new one"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", `${HOST} does not use TLS`, "the port of --base-url"],
    ["EPROTO", `${HOST} does not use TLS`, "the port of --base-url"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", `${HOST} refuses the TLS connection`, "a client certificate"],
    ["ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY", `${HOST} refuses the TLS connection`, "outdated ciphers"],
    ["ERR_SSL_NO_CIPHERS_AVAILABLE", `${HOST} refuses the TLS connection`, "the host of --base-url"],
    ["ERR_SSL_EE_KEY_TOO_SMALL", `${HOST} has only an outdated TLS`, "2,048 bits"],
    ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", `${HOST} refuses the TLS connection`, "a client certificate"],
    ["NOT_HTTP", `${HOST} answers, but not in HTTP`, "the port of --base-url"],
    ["ENOTFOUND", `${HOST} was not found (ENOTFOUND): there is no such host`, "HTTPS_PROXY"],
  ])("such as %s ends the run after one attempt", async (reason, problem, remedy) => {
    const transport = failing(new NoResponse(reason));

    const { error } = await failedList({}, { baseUrl: `https://${HOST}`, transport });

    expect(error).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      isRetryable: true,
      fields: { request: "POST /v1/auth/login", attempts: 1, cause: reason },
    });
    expect(error).toHaveProperty(
      "message",
      expect.stringContaining(`POST /v1/auth/login failed: ${problem}`),
    );
    expect(told(error)).toHaveProperty("message", expect.stringContaining(remedy));
    expect(transport.attempts()).toBe(1);
  });

  const PROXY = "the proxy http://proxy.test:3128";
  it.each([
    ["PROXY_STATUS_407", `${PROXY} requires a user name and a password`],
    ["PROXY_WITHOUT_BASIC", `${PROXY} accepts only logins such as Negotiate or NTLM (status 407)`],
    ["PROXY_STATUS_403", `${PROXY} does not permit connections to the service`],
    ["ENOTFOUND", `${PROXY} was not found`],
    ["SELF_SIGNED_CERT_IN_CHAIN", `the certificate of ${PROXY} is not from an authority`],
    ["ERR_SSL_WRONG_VERSION_NUMBER", `${PROXY} does not use TLS`],
  ])("for the proxy's sake, such as %s, ends the run after one attempt", async (reason, problem) => {
    const transport = failing(new NoResponse(reason, "http://proxy.test:3128"));

    const { error } = await failedList({}, { baseUrl: `https://${HOST}`, transport });

    expect(error).toHaveProperty("message", expect.stringContaining(problem));
    expect(transport.attempts()).toBe(1);
  });
});

/** No request comes as far as a target. */
const refusing = (options: TlsOptions, certificate: Certificate = "service") =>
  tlsServer(certificate, "http://127.0.0.1:1", options);

/** A fatal alert in answer to a hello (RFC 5246 §7.2). */
const alert = (description: number) =>
  rawServer((socket) => socket.write(Buffer.from([21, 3, 3, 0, 2, 2, description])));

/** The hello of a server that speaks TLS 1.0 whatever the client offers (RFC 2246 §7.4.1.3). */
const OLD_HELLO = [22, 3, 1, 0, 42, 2, 0, 0, 38, 3, 1, ...Array<number>(32).fill(7), 0, 0, 47, 0];

const OLD = { minVersion: "TLSv1", maxVersion: "TLSv1.1" } as const;
const TLS_1_2 = { maxVersion: "TLSv1.2" } as const;

describe("a server that refuses TLS before its first response", () => {
  it.each<[because: string, start: () => Promise<LocalServer>, cause: string, says: string]>([
    [
      "its certificate is of an unknown authority",
      () => refusing({}),
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "NODE_EXTRA_CA_CERTS",
    ],
    [
      "it speaks plain HTTP",
      () => httpServer((_, response) => response.end("[]")),
      "ERR_SSL_WRONG_VERSION_NUMBER",
      "does not use TLS",
    ],
    [
      "it has only TLS 1.1",
      () => refusing(OLD),
      "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
      "has only an outdated TLS",
    ],
    [
      "it answers with TLS 1.0 whatever it is offered",
      () => rawServer((socket) => socket.write(Buffer.from(OLD_HELLO))),
      "ERR_SSL_UNSUPPORTED_PROTOCOL",
      "This program needs TLS 1.2 or 1.3",
    ],
    [
      "it has no cipher of today",
      () => refusing({ ...TLS_1_2, ciphers: "CAMELLIA128-SHA:@SECLEVEL=0" }, "short"),
      "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
      "has only outdated ciphers, requires a client certificate or HTTP/2, or does not know this host",
    ],
    [
      "it requires a client certificate (TLS 1.2)",
      () => refusing({ ...TLS_1_2, requestCert: true, rejectUnauthorized: true }),
      "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
      "this program has no client certificate",
    ],
    [
      "its Diffie-Hellman key is too short",
      () =>
        refusing(
          { ...TLS_1_2, dhparam: SHORT_DH, ciphers: "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0" },
          "short",
        ),
      "ERR_SSL_DH_KEY_TOO_SMALL",
      "with keys of 2,048 bits or more",
    ],
    [
      "it speaks HTTP/2 only",
      () => refusing({ ALPNProtocols: ["h2"] }),
      "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
      "speaks HTTP/1.1",
    ],
    [
      "it does not know the host",
      () => alert(112),
      "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
      "Check the host of --base-url",
    ],
    [
      "it misses a client certificate, in the words of other servers",
      () => alert(42),
      "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE",
      "requires a client certificate",
    ],
  ])("is told at once: %s", async (_, start, cause, says) => {
    await using server = await start();
    const baseUrl = server.url.replace("http:", "https:");

    const { error, client } = await failedList({}, { baseUrl });

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining(says),
      fields: { cause },
    });
    expect(error).toHaveProperty("message", expect.stringContaining(`(${cause})`));
    expect(client).toMatchObject({ requests: 1, retries: 0 });
  });

  it("with an error of its own is asked again", async () => {
    await using server = await alert(80);

    const { error } = await failedList({}, { baseUrl: server.url.replace("http:", "https:") });

    expect(error).toHaveProperty("message", expect.stringMatching(/failed 6 times.*ALERT_INTERNAL_ERROR/));
  });
});

describe("what a person does after the last attempt", () => {
  it.each([
    [new NoResponse("EAI_AGAIN"), "No DNS server answered", "set the environment variable HTTPS_PROXY"],
    [
      new NoResponse("EAI_AGAIN", "http://proxy.test:3128"),
      "No DNS server answered",
      "Check the network of this machine",
    ],
    [new NoResponse("ECONNREFUSED"), "no response (ECONNREFUSED)", "Check --base-url and the network"],
  ])("is named for %s", async (failure, problem, remedy) => {
    const { error } = await failedList({}, { transport: failing(failure) });

    expect(told(error)).toHaveProperty("message", expect.stringContaining(problem));
    expect(told(error)).toHaveProperty("message", expect.stringContaining(remedy));
  });

  it.each([
    [
      "a header that no parser takes",
      "HTTP/1.1 200 OK\r\nx: a\u0001b\r\n\r\n",
      "INVALID_HTTP: Invalid header value char",
    ],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
      "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
    ],
  ])("is named for a response with %s: an answer came", async (_, response, code) => {
    await using server = await rawServer((socket) => socket.end(response));

    const { error } = await failedList({}, { baseUrl: server.url });

    expect(told(error)).toHaveProperty(
      "message",
      `POST /v1/auth/login failed 2 times, the last time with a response that is not valid HTTP (${code}). Check ` +
        "--base-url, and look for a proxy between here and the service that changes headers, then run again. If there " +
        "is none, ask the service's operator: a browser may accept more than HTTP allows, this program does not.",
    );
  });

  it("is named for more headers than a response may have", async () => {
    await using server = await httpServer((_, response) => response.setHeader("x", "y".repeat(20_000)).end());

    const { error } = await failedList({}, { baseUrl: server.url });

    expect(error).toHaveProperty(
      "message",
      expect.stringContaining("a response with more than 16 KB of headers"),
    );
  });
});

describe("a connection that a retry may fix", () => {
  it.each(["ENOTFOUND", "CONNECTION_LOST", "NOT_HTTP", "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"])(
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

    expect(told(error)).toHaveProperty(
      "message",
      `POST /v1/auth/login failed 6 times, the last time with no connection through the proxy ${proxy.url} ` +
        `(PROXY_STATUS_502). Check the proxy ${proxy.url}, which HTTPS_PROXY names, then run again. To reach the ` +
        "service directly, add its host to NO_PROXY.",
    );
    expect(proxy.requests).toHaveLength(6);
  });
});
