import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { httpServer, rawServer } from "./local-server.ts";
import { get, transport } from "./transport-setup.ts";

const TEXT = '{"text":"äöü"}';
const TEXT_BYTES = 17;
/** Compresses to about half. */
const RANDOM = randomBytes(20_000).toString("hex");

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

    const response = await transport().send({
      ...get(server.url),
      method: "POST",
      headers: { "x-test": "yes" },
      body: "payload",
    });

    expect(seen).toEqual(["POST", "/v1/events?is_listed=true", "yes", "payload"]);
    expect(response).toMatchObject({
      status: 200,
      decodedBytes: 17,
      body: { kind: "whole", bytes: Buffer.from(TEXT) },
    });
    expect(response.headers.get("set-cookie")).toEqual(["a=1", "b=2"]);
  });

  it.each([
    ["gzip", gzipSync(TEXT)],
    ["GZIP", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
  ])("decodes %s and counts the decoded bytes", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    const response = await transport().send(get(server.url));

    expect(response).toMatchObject({ decodedBytes: TEXT_BYTES, body: { kind: "whole" } });
    expect(response.body.kind === "whole" && Buffer.from(response.body.bytes).toString()).toBe(TEXT);
  });

  it.each([
    ["deflate", deflateSync(TEXT)],
    ["gzip, br", gzipSync(TEXT)],
    ["secret", Buffer.from(TEXT)],
  ])("calls the encoding %s foreign", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    expect(await transport().send(get(server.url))).toMatchObject({
      body: { kind: "foreign" },
      decodedBytes: body.length,
    });
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
    ["gzip", gzipSync(RANDOM)],
    ["br", brotliCompressSync(RANDOM)],
  ])(
    "counts what is decodable of a %s body that breaks off, and at least what came",
    async (encoding, body) => {
      const half = body.subarray(0, Math.floor(body.length / 2));
      const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`;
      await using server = await rawServer((socket) => {
        socket.write(head);
        socket.end(half);
      });

      const response = await transport().send(get(server.url, 100_000));

      expect(response.body).toEqual({ kind: "broken", cause: "CONNECTION_LOST" });
      expect(response.decodedBytes).toBeGreaterThan(1.5 * half.length);
      expect(response.decodedBytes).toBeLessThan(RANDOM.length);
    },
  );

  it("counts at least what came of a body that cannot be decoded", async () => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", "gzip").end("no gzip"),
    );

    expect((await transport().send(get(server.url))).decodedBytes).toBe(7);
  });

  it("counts the decoded bytes of an error", async () => {
    await using server = await httpServer((_, response) =>
      response.writeHead(429, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(900))),
    );

    expect(await transport().send(get(server.url))).toMatchObject({
      body: { kind: "unread" },
      decodedBytes: 900,
    });
  });

  it.each([
    ["shorter than announced", "content-length: 100\r\n\r\nhalf"],
    ["without its last chunk", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
    ["with a chunk that is none", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\ncanary\r\n", "NOT_HTTP"],
  ])("calls a body %s broken", async (_, rest, cause = "CONNECTION_LOST") => {
    await using server = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));

    expect(await transport().send(get(server.url))).toMatchObject({
      status: 200,
      decodedBytes: 4,
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

    const over = await transport().send(get(server.url, 1_000));
    expect(over.body).toEqual({ kind: "oversize" });
    expect(over.decodedBytes).toBeGreaterThan(1_000);
    expect((await transport().send(get(server.url, 1_000_000))).body.kind).toBe("whole");
  });

  it.each([
    ["in one header", (response: ServerResponse) => response.setHeader("set-cookie", "x".repeat(16_384))],
    [
      "in all",
      (response: ServerResponse) => response.setHeader("set-cookie", Array(500).fill("x".repeat(30))),
    ],
  ])("takes no more than 16 KB of headers %s", async (_, bomb) => {
    await using server = await httpServer((__, response) => bomb(response).end("{}"));

    await expect(transport().send(get(server.url))).rejects.toMatchObject({
      reason: "UND_ERR_HEADERS_OVERFLOW",
    });
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

    const responses = [await one.send(get(server.url)), await one.send(get(server.url))];

    expect(responses).toMatchObject([{ status, body: { kind: "unread" }, decodedBytes: 6 }, { status }]);
    expect(server.connections).toBe(1);
  });

  it("waits for the response that follows an interim one", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
    await using server = await rawServer((socket) =>
      socket.end(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`),
    );

    expect(await transport().send(get(server.url))).toMatchObject({ status: 200, body: { kind: "whole" } });
  });

  it("resolves with the status of an error whose body is incomplete", async () => {
    await using server = await rawServer((socket) =>
      socket.end("HTTP/1.1 404 No\r\ncontent-length: 100\r\n\r\nhalf"),
    );

    expect(await transport().send(get(server.url))).toMatchObject({ status: 404, body: { kind: "unread" } });
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
