import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { NoAnswer, type TransportRequest } from "../../lambdas/service/transport.ts";
import { UndiciTransport } from "../../lambdas/service/undici-transport.ts";
import { httpServer, rawServer } from "./local-server.ts";

const transports: UndiciTransport[] = [];
const transport = (timeoutMs = 5_000, connections = 4): UndiciTransport => {
  const created = new UndiciTransport({ connections, timeoutMs });
  transports.push(created);
  return created;
};
afterEach(async () => {
  await Promise.all(transports.splice(0).map((each) => each.close()));
});

const get = (url: string, bodyCapBytes = 1_000): TransportRequest => ({
  method: "GET",
  url: new URL("/v1/events?is_listed=true", url),
  headers: { accept: "application/json" },
  bodyCapBytes,
});

const TEXT = '{"text":"äöü"}';

describe("an attempt", () => {
  it("sends the request as it is, and brings status, headers and body", async () => {
    const seen: unknown[] = [];
    await using server = await httpServer(async (request, response) => {
      seen.push(
        request.method,
        request.url,
        request.headers["x-test"],
        String((await request.toArray()).join("")),
      );
      response.setHeader("set-cookie", ["a=1", "b=2"]).end(TEXT);
    });

    const answer = await transport().send({
      ...get(server.url),
      method: "POST",
      headers: { "x-test": "yes" },
      body: "payload",
    });

    expect(seen).toEqual(["POST", "/v1/events?is_listed=true", "yes", "payload"]);
    expect(answer).toMatchObject({
      status: 200,
      wireBytes: 17,
      body: { kind: "whole", bytes: Buffer.from(TEXT) },
    });
    expect(answer.headers.get("set-cookie")).toEqual(["a=1", "b=2"]);
  });

  it.each([
    ["gzip", gzipSync(TEXT)],
    ["GZIP", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
  ])("decodes %s and counts the bytes on the wire", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    const answer = await transport().send(get(server.url));

    expect(answer).toMatchObject({ wireBytes: body.length, body: { kind: "whole" } });
    expect(answer.body.kind === "whole" && Buffer.from(answer.body.bytes).toString()).toBe(TEXT);
  });

  it.each([
    ["deflate", deflateSync(TEXT)],
    ["gzip, br", gzipSync(TEXT)],
    ["secret", Buffer.from(TEXT)],
  ])("calls the encoding %s foreign", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    expect((await transport().send(get(server.url))).body).toEqual({ kind: "foreign" });
  });

  it.each([
    ["gzip", gzipSync(TEXT.repeat(9)).subarray(0, 20)],
    ["gzip", Buffer.from("no gzip")],
    ["gzip", Buffer.alloc(0)],
    ["br", brotliCompressSync(TEXT.repeat(9)).subarray(0, 9)],
  ])("calls a damaged %s body broken", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    expect((await transport().send(get(server.url))).body).toEqual({ kind: "broken", cause: "UNDECODABLE" });
  });

  it.each([
    ["shorter than announced", "content-length: 100\r\n\r\nhalf"],
    ["without its last chunk", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
    ["with a chunk that is none", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\ncanary\r\n", "NOT_HTTP"],
  ])("calls a body %s broken", async (_, rest, cause = "CONNECTION_LOST") => {
    await using server = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));

    expect(await transport().send(get(server.url))).toMatchObject({
      status: 200,
      wireBytes: 4,
      body: { kind: "broken", cause },
    });
  });

  it.each([
    ["a plain body", {}, "x".repeat(1_001)],
    ["what gzip unpacks", { "content-encoding": "gzip" }, gzipSync("x".repeat(1_001))],
    ["what br unpacks", { "content-encoding": "br" }, brotliCompressSync("x".repeat(1_001))],
    ["what a bomb unpacks", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(900_000))],
  ])("caps %s", async (_, headers, body) => {
    await using server = await httpServer((__, response) => response.writeHead(200, headers).end(body));

    expect((await transport().send(get(server.url, 1_000))).body).toEqual({ kind: "oversize" });
    expect((await transport().send(get(server.url, 1_000_000))).body.kind).toBe("whole");
  });

  it("stops downloading a body over the cap", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await httpServer((_, response) => {
      response.on("close", () => closed.resolve());
      response.write("x".repeat(2_000));
    });

    expect((await transport().send(get(server.url, 1_000))).body).toEqual({ kind: "oversize" });
    await closed.promise;
  });

  it.each([
    [302, { location: "/elsewhere" }],
    [404, {}],
    [500, { "content-encoding": "secret" }],
  ])("does not read the body of a %i, and uses the connection again", async (status, headers) => {
    await using server = await httpServer((_, response) => response.writeHead(status, headers).end("secret"));
    const one = transport(5_000, 1);

    const answers = [await one.send(get(server.url)), await one.send(get(server.url))];

    expect(answers).toMatchObject([{ status, body: { kind: "unread" }, wireBytes: 6 }, { status }]);
    expect(server.connections).toBe(1);
  });

  it("answers with the status of an error whose body breaks off", async () => {
    await using server = await rawServer((socket) =>
      socket.end("HTTP/1.1 404 No\r\ncontent-length: 100\r\n\r\nhalf"),
    );

    expect(await transport().send(get(server.url))).toMatchObject({ status: 404, body: { kind: "unread" } });
  });
});

describe("an attempt without an answer", () => {
  it.each([
    ["nobody listens", undefined, "ECONNREFUSED"],
    ["the connection ends", "end", "CONNECTION_LOST"],
    ["the connection is reset", "reset", "ECONNRESET"],
    ["something else than HTTP comes", "garbage", "NOT_HTTP"],
  ])("says why: %s", async (_, what, reason) => {
    await using server = await rawServer((socket) => {
      if (what === "end") socket.end();
      else if (what === "reset") socket.resetAndDestroy();
      else socket.end("canary canary canary\r\n\r\n");
    });
    const url = what === undefined ? "http://127.0.0.1:1" : server.url;

    const error: unknown = await transport()
      .send(get(url))
      .catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(NoAnswer);
    expect(error).toMatchObject({ reason, message: `no answer (${reason})` });
    expect(error).not.toHaveProperty("cause");
  });

  it("is given up after the time-out where no headers come", async () => {
    await using server = await rawServer(() => undefined);

    await expect(transport(50).send(get(server.url))).rejects.toMatchObject({ reason: "TIMED_OUT" });
  });

  it("is given up after the time-out where the connection is never made", async () => {
    await using server = await rawServer(() => undefined);
    const url = server.url.replace("http:", "https:");

    const startedMs = performance.now();
    await expect(transport(50).send(get(url))).rejects.toMatchObject({ reason: "TIMED_OUT" });

    expect(performance.now() - startedMs).toBeLessThan(400);
  });

  it("has a broken body where headers came and the body does not end in time", async () => {
    await using server = await httpServer(async (_, response) => {
      for (let n = 0; n < 100 && !response.destroyed; n += 1) {
        response.write("x");
        await delay(10);
      }
    });

    expect(await transport(100).send(get(server.url))).toMatchObject({
      status: 200,
      body: { kind: "broken", cause: "TIMED_OUT" },
    });
  });

  it.each([
    ["before it is sent", undefined],
    ["before the headers", "headers"],
    ["in the middle of the body", "body"],
  ])("ends with the signal's reason when aborted %s", async (_, when) => {
    const abort = new AbortController();
    const reason = Object.assign(new Error("stop"), { code: "ECONNRESET" });
    const arrived = Promise.withResolvers<void>();
    await using server = await httpServer((__, response) => {
      if (when === "body") response.write("x");
      arrived.resolve();
    });

    if (when === undefined) abort.abort(reason);
    const sent = transport().send(get(server.url), abort.signal);
    if (when !== undefined) void arrived.promise.then(() => delay(20)).then(() => abort.abort(reason));

    await expect(sent).rejects.toBe(reason);
  });

  it("that is our own mistake is no network error", async () => {
    const sent = transport().send({ ...get("http://127.0.0.1:1"), headers: { "bad header": "x" } });

    await expect(sent).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
  });
});

describe("many attempts at once", () => {
  it("open no more connections than allowed and leave no listener behind", async () => {
    await using server = await httpServer((_, response) => response.end("{}"));
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const { signal } = new AbortController();
    const one = transport(5_000, 8);

    await Promise.all(Array.from({ length: 64 }, () => one.send(get(server.url), signal)));
    await delay(5);
    process.off("warning", onWarning);

    expect(server.connections).toBe(8);
    expect(warnings).toEqual([]);
  });
});
