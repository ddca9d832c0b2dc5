import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InterimResponses } from "../../../../lambdas/job/service/http/undici-transport.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, fetchAll, texts, truth } from "../connection.ts";
import { httpServer, interimProxy, rawServer } from "./local-server.ts";
import { get, transport } from "./transport-setup.ts";

const TEXT = '{"text":"äöü"}';
const TEXT_BYTES = 17;
/** Compresses to about half. */
const RANDOM = randomBytes(20_000).toString("hex");

type Headers = Readonly<Record<string, string>>;

/** What comes of such a response. */
const received = async (
  body: string | Buffer,
  headers: Headers,
  { status = 200, capBytes }: { readonly status?: number; readonly capBytes?: number } = {},
) => {
  await using server = await httpServer((_, response) => response.writeHead(status, headers).end(body));
  return await transport().send(get(server.url, capBytes));
};

/** What comes of these bytes, after which the connection ends. */
const receivedRaw = async (text: string) => {
  await using server = await rawServer((socket) => socket.end(text));
  return await transport().send(get(server.url));
};

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
    const response = await received(body, { "content-encoding": encoding });

    expect(response).toMatchObject({ decodedBytes: TEXT_BYTES, body: { kind: "whole" } });
    expect(response.body.kind === "whole" && Buffer.from(response.body.bytes).toString()).toBe(TEXT);
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
    expect(await received("no gzip", { "content-encoding": "gzip" })).toMatchObject({ decodedBytes: 7 });
  });

  it("counts the decoded bytes of an error", async () => {
    const body = gzipSync("x".repeat(900));

    expect(await received(body, { "content-encoding": "gzip" }, { status: 429 })).toMatchObject({
      body: { kind: "unread" },
      decodedBytes: 900,
    });
  });

  it.each([
    ["shorter than announced", "content-length: 100\r\n\r\nhalf"],
    ["without its last chunk", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
    [
      "with a chunk that is none",
      "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\ncanary\r\n",
      "INVALID_HTTP",
    ],
  ])("calls a body %s broken", async (_, rest, cause = "CONNECTION_LOST") => {
    expect(await receivedRaw(`HTTP/1.1 200 OK\r\n${rest}`)).toMatchObject({
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
  ] satisfies [string, Headers, string | Buffer][])("caps %s", async (_, headers, body) => {
    const over = await received(body, headers, { capBytes: 1_000 });
    const under = await received(body, headers, { capBytes: 1_000_000 });

    expect(over.body).toEqual({ kind: "oversize" });
    expect(over.decodedBytes).toBeGreaterThan(1_000);
    expect(under.body.kind).toBe("whole");
  });

  it.each([
    ["in one header", { "set-cookie": "x".repeat(16_384) }],
    ["in all", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, "x".repeat(30)]))],
  ])("takes no more than 16 KB of headers %s", async (_, bomb) => {
    await expect(received("{}", bomb)).rejects.toMatchObject({
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

  it("resolves with the status of an error whose body is incomplete", async () => {
    const response = await receivedRaw("HTTP/1.1 404 No\r\ncontent-length: 100\r\n\r\nhalf");

    expect(response).toMatchObject({ status: 404, body: { kind: "unread" } });
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

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\nx-note: HTTP/1.1 200 OK\r\n\r\n";
const PROCESSING = "HTTP/1.1 102 Processing\r\n\r\n";
const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{"text":"answer"}';
const EMPTY = "HTTP/1.1 204 No Content\r\n\r\n";
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n11\r\n{"text":"answer"}\r\n0\r\n\r\n';

/** Responds to the nth request of a connection with `responseTo(nth)`, in pieces of that many bytes. */
const server = (responseTo: (nth: number) => string, pieceBytes = Infinity) =>
  rawServer((socket) => {
    let nth = 0;
    const respond = (): void => {
      nth += 1;
      sendInPieces(socket, responseTo(nth), pieceBytes).catch(() => undefined);
    };
    socket.on("data", respond);
    respond();
  });

const sendInPieces = async (socket: Socket, text: string, pieceBytes: number): Promise<void> => {
  socket.setNoDelay(true);
  for (let at = 0; at < text.length; at += pieceBytes) {
    await new Promise<void>((sent) => socket.write(text.slice(at, at + pieceBytes), () => sent()));
    await nextTurn();
  }
};

describe("interim responses", () => {
  it.each([
    ["a 100", CONTINUE],
    ["several of them", CONTINUE + CONTINUE + CONTINUE],
    ["a 102", PROCESSING],
    ["a 103 with headers", HINTS],
    ["all of them", PROCESSING + CONTINUE + HINTS + CONTINUE],
    ["one with single line feeds", "HTTP/1.1 100\nx: y\n\n"],
    [
      "one with more headers than a response may have",
      `HTTP/1.1 103 Early Hints\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
    ],
  ])("%s before the response are skipped, whatever the pieces they arrive in", async (_, interim) => {
    for (const pieceBytes of [1, 11, 26, Infinity].filter((bytes) => interim.length / bytes < 1_000)) {
      for (const response of [RESPONSE, CHUNKED, EMPTY]) {
        await using service = await server(() => interim + response, pieceBytes);

        const { status, body } = await transport().send(get(service.url));

        expect(status).toBe(response === EMPTY ? 204 : 200);
        expect(body.kind === "whole" && Buffer.from(body.bytes).toString()).toBe(
          response === EMPTY ? "" : '{"text":"answer"}',
        );
      }
    }
  });

  it("are skipped on a connection that is used again, for requests with and without a body", async () => {
    const responses = [
      CONTINUE + RESPONSE,
      RESPONSE,
      CONTINUE + EMPTY,
      HINTS + CONTINUE + CHUNKED,
      CONTINUE + RESPONSE,
    ];
    await using service = await server((nth) => responses[nth - 1] ?? "", 7);
    const one = transport(5_000, 1);

    const statuses: number[] = [];
    for (const [nth] of responses.entries()) {
      const post = { ...get(service.url), method: "POST", body: "x".repeat(1_000) } as const;
      statuses.push((await one.send(nth % 2 === 0 ? post : get(service.url))).status);
    }

    expect(statuses).toEqual([200, 200, 204, 200, 200]);
    expect(service.connections).toBe(1);
  });

  it("are not looked for in a body", async () => {
    const body = CONTINUE + RESPONSE;
    await using service = await server(
      () => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      20,
    );

    const response = await transport().send(get(service.url));

    expect(response.body.kind === "whole" && Buffer.from(response.body.bytes).toString()).toBe(body);
  });

  it("that never end are not a response", async () => {
    await using service = await rawServer((socket) => {
      const send = (): void => void socket.write(CONTINUE.repeat(100), () => setImmediate(send));
      send();
    });

    await expect(transport(100).send(get(service.url))).rejects.toMatchObject({ reason: "TIMED_OUT" });
  });

  it.each([
    ["nothing else", CONTINUE, "CONNECTION_LOST"],
    ["a part of a status line", `${CONTINUE}HTTP/1.1 2`, "CONNECTION_LOST"],
    ["what is not HTTP", `${CONTINUE}garbage`, "NOT_HTTP"],
    [
      "a change of protocols that was not requested",
      `HTTP/1.1 101 Up\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${RESPONSE}`,
    ],
  ])("followed by %s are not a response", async (_, text, reason = "CONNECTION_LOST") => {
    await expect(receivedRaw(text)).rejects.toMatchObject({ reason });
  });

  it("before every response do not disturb the requests of a run", async () => {
    await using connection = await connect({ events: makeEvents(20) });
    const { simulator } = connection;
    await using proxy = await interimProxy(CONTINUE, simulator.url);
    await using through = await connect(
      {},
      { baseUrl: proxy.url, credentials: { method: "session", ...simulator.credentials } },
    );

    const fetched = await fetchAll(through.service, 4);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(through.service.counts).toMatchObject({ requests: 22, retries: 0, logins: 1 });
  });
});

describe("the filter of a connection", () => {
  it("lets the same bytes through however they are cut", () => {
    const sent = fc.array(fc.constantFrom(CONTINUE, HINTS, PROCESSING), { maxLength: 3 });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sent, fc.constantFrom(RESPONSE, EMPTY, "garbage"), cuts, (interim, response, sizes) => {
        const responses = new InterimResponses();
        let rest = Buffer.from(interim.join("") + response);
        let passed = "";
        for (let n = 0; rest.length > 0; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          passed += responses.skip(rest.subarray(0, size));
          rest = rest.subarray(size);
        }

        expect(passed).toBe(response);
      }),
    );
  });
});
