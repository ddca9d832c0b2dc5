import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBuffer } from "../../../../lambdas/job/service/http/response-collector.ts";
import type { BodySink } from "../../../../lambdas/job/service/http/transport.ts";
import { httpServer, rawServer } from "./local-server.ts";
import { get, transport } from "./transport-setup.ts";

const TEXT = '{"text":"äöü"}'.repeat(1_000);
const CAP_BYTES = 20_000_000;

/** Collects what it gets, and refuses more than `most` bytes. */
class Collected implements BodySink {
  readonly #pieces: Buffer[] = [];
  readonly #most: number;

  constructor(most = Infinity) {
    this.#most = most;
  }

  add(piece: Uint8Array): boolean {
    this.#pieces.push(Buffer.from(piece));
    return this.length <= this.#most;
  }

  get length(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}

describe("a body that is delivered as it arrives", () => {
  it.each([
    ["gzip", gzipSync(TEXT)],
    ["X-Gzip", gzipSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
  ])("is decoded from %s", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );
    const sink = new Collected();

    const response = await transport().send({ ...get(server.url, CAP_BYTES), sink });

    expect(response).toMatchObject({
      status: 200,
      decodedBytes: Buffer.byteLength(TEXT),
      body: { kind: "delivered" },
    });
    expect(sink.text).toBe(TEXT);
  });

  it("arrives whole where it is much longer than what the decoder takes at once", async () => {
    const text = Array.from({ length: 300_000 }, (_, n) => `${n * 7_919}`).join();
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", "gzip").end(gzipSync(text, { level: 1 })),
    );
    const sink = new Collected();

    const { body } = await transport().send({ ...get(server.url, CAP_BYTES), sink });

    expect(body.kind).toBe("delivered");
    expect(sink.text === text).toBe(true);
  });

  it.each([
    ["plain", {}, Buffer.from(TEXT)],
    ["gzip", { "content-encoding": "gzip" }, gzipSync(TEXT)],
    ["br", { "content-encoding": "br" }, brotliCompressSync(TEXT)],
    ["a bomb", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(5_000_000))],
  ])("is capped (%s)", async (_, headers, body) => {
    await using server = await httpServer((__, response) => response.writeHead(200, headers).end(body));
    const sink = new Collected();

    const response = await transport().send({ ...get(server.url, 10_000), sink });

    expect(response.body).toEqual({ kind: "oversize" });
    expect(sink.length).toBeLessThanOrEqual(10_000);
  });

  it.each([
    ["gzip", gzipSync(TEXT).subarray(0, -9)],
    ["gzip", Buffer.from("no gzip")],
    ["br", brotliCompressSync(TEXT).subarray(0, -9)],
  ])("is broken where its %s is damaged", async (encoding, body) => {
    await using server = await httpServer((_, response) =>
      response.setHeader("content-encoding", encoding).end(body),
    );

    const { body: received } = await transport().send({
      ...get(server.url, CAP_BYTES),
      sink: new Collected(),
    });

    expect(received).toEqual({ kind: "broken", cause: "UNDECODABLE" });
  });

  it("is broken where the connection is lost in the middle", async () => {
    await using server = await rawServer((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"),
    );

    expect(await transport().send({ ...get(server.url), sink: new Collected() })).toMatchObject({
      decodedBytes: 4,
      body: { kind: "broken", cause: "CONNECTION_LOST" },
    });
  });

  it("counts as far as it was decoded where it breaks off", async () => {
    const half = gzipSync(TEXT).subarray(0, -9);
    await using server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100000\r\n\r\n");
      socket.end(half);
    });

    const { body, decodedBytes } = await transport().send({
      ...get(server.url, CAP_BYTES),
      sink: new Collected(),
    });

    expect(body.kind).toBe("broken");
    expect(decodedBytes).toBeGreaterThanOrEqual(half.length);
  });

  it("is broken where the time is up", async () => {
    await using server = await httpServer((_, response) => {
      response.write("[1,");
    });

    expect(await transport(300).send({ ...get(server.url), sink: new Collected() })).toMatchObject({
      body: { kind: "broken", cause: "TIMED_OUT" },
    });
  });

  it.each([302, 404, 500])("is not delivered with a %i", async (status) => {
    await using server = await httpServer((_, response) => response.writeHead(status).end("secret"));
    const sink = new Collected();

    const response = await transport().send({ ...get(server.url), sink });

    expect(response).toMatchObject({ status, body: { kind: "unread" } });
    expect(sink.length).toBe(0);
  });

  it("in a foreign encoding is not received any further", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await httpServer((_, response) => {
      response.on("close", () => closed.resolve());
      response.setHeader("content-encoding", "secret").write("x");
    });

    expect((await transport().send({ ...get(server.url), sink: new Collected() })).body).toEqual({
      kind: "foreign",
    });
    await closed.promise;
  });

  it.each([{}, { "content-encoding": "gzip" }])(
    "is not received any further than the sink needs it (%j)",
    async (headers) => {
      const closed = Promise.withResolvers<void>();
      const body = "content-encoding" in headers ? gzipSync(TEXT) : Buffer.from(TEXT);
      await using server = await httpServer((_, response) => {
        response.on("close", () => closed.resolve());
        response.writeHead(200, headers).write(body);
      });

      const response = await transport().send({ ...get(server.url, CAP_BYTES), sink: new Collected(10) });

      expect(response.body).toEqual({ kind: "delivered" });
      await closed.promise;
    },
  );
});

describe("a buffer of bytes", () => {
  it("holds what was added, in order", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 50_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, (added) => {
        const buffer = new ByteBuffer();
        for (const piece of added) buffer.add(piece);

        expect(buffer.length).toBe(Buffer.concat(added).length);
        expect(Buffer.concat(added).equals(buffer.bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("does not copy a single piece", () => {
    const buffer = new ByteBuffer();
    const piece = Buffer.from("x");
    buffer.add(piece);

    expect(buffer.bytes).toBe(piece);
  });

  it("takes no more than twice the bytes, however small the pieces are", () => {
    const buffer = new ByteBuffer();
    for (let n = 0; n < 1_000_000; n += 1) buffer.add(new Uint8Array(1));

    expect(buffer.bytes.buffer.byteLength).toBe(1_048_576);
  });
});
