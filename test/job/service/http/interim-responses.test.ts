import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InterimResponses } from "../../../../lambdas/job/service/http/undici-transport.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, fetchAll, texts, truth } from "../connection.ts";
import { interimProxy, rawServer } from "./local-server.ts";
import { get, transport } from "./transport-setup.ts";

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
    await using service = await rawServer((socket) => socket.end(text));

    await expect(transport().send(get(service.url))).rejects.toMatchObject({ reason });
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
