import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NoResponse, type Transport } from "../../../../lambdas/job/service/http/transport.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { inTimeEnough } from "../../runtime/time-enough.ts";
import { connect, errorOf } from "../connection.ts";
import { httpServer, rawServer } from "../http/local-server.ts";
import { get, transport } from "../http/transport-setup.ts";

describe("an attempt without a response", () => {
  it.each([
    ["no server listens", undefined, "ECONNREFUSED"],
    ["the connection ends", "end", "CONNECTION_LOST"],
    ["the connection is reset", "reset", "ECONNRESET"],
  ])("says why: %s", async (_, what, reason) => {
    await using server = await rawServer((socket) => {
      if (what === "end") socket.end();
      else socket.resetAndDestroy();
    });
    const url = what === undefined ? "http://127.0.0.1:1" : server.url;

    const error = await errorOf(transport().send(get(url)));

    expect(error).toBeInstanceOf(NoResponse);
    expect(error).toMatchObject({ reason, isAnswer: false, message: `no response (${reason})` });
    expect(error).not.toHaveProperty("cause");
  });

  const OK = "HTTP/1.1 200 OK\r\n";
  it.each([
    ["canary canary\r\n\r\n", "NOT_HTTP", "Expected HTTP/, RTSP/ or ICE/"],
    ["HTTP/1.1 2x0 canary\r\n\r\n", "INVALID_HTTP", "Invalid status code"],
    ["HTTP/9.1 200 canary\r\n\r\n", "INVALID_HTTP", "Invalid HTTP version"],
    [`${OK}x: canary\u0001\r\n\r\n`, "INVALID_HTTP", "Invalid header value char"],
    [`${OK}x: y\rcanary\r\n\r\n`, "INVALID_HTTP", "Missing expected LF after header value"],
    [`${OK}content-length: canary\r\n\r\n`, "INVALID_HTTP", "Invalid character in Content-Length"],
    [`${OK}content-length: 6 canary\r\n\r\n`, "UND_ERR_RES_CONTENT_LENGTH_MISMATCH", undefined],
  ])("names what is wrong with an answer, in the words of the parser: %j", async (answer, reason, says) => {
    await using server = await rawServer((socket) => socket.end(answer));
    const code = says === undefined ? reason : `${reason}: ${says}`;
    const what = reason === "NOT_HTTP" ? "something that is not HTTP" : "a response that is not valid HTTP";

    const error = await errorOf(transport().send(get(server.url)));

    expect(error).toBeInstanceOf(NoResponse);
    expect(error).toMatchObject({ reason, isAnswer: true, message: `${what} (${code})` });
  });

  it("is given up after the time-out where no headers come", async () => {
    await using server = await rawServer(() => undefined);

    await expect(transport(50).send(get(server.url))).rejects.toMatchObject({ reason: "TIMED_OUT" });
  });

  it("is given up after the time-out where the connection is never made", async () => {
    await using server = await rawServer(() => undefined);
    const url = server.url.replace("http:", "https:");

    const sent = transport(600_000).send({ ...get(url), timeoutMs: 50 });

    await expect(sent).rejects.toMatchObject({ reason: "TIMED_OUT" });
  });

  it("has a broken body where headers came and the body does not end in time", async () => {
    await using server = await httpServer(async (_, response) => {
      for (; !response.destroyed; await delay(10)) response.write("x");
    });

    const response = await inTimeEnough(100, (limitMs) =>
      transport(limitMs)
        .send(get(server.url))
        .catch(() => undefined),
    );

    expect(response).toMatchObject({ status: 200, body: { kind: "broken", cause: "TIMED_OUT" } });
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

  it("is not assumed for a programming error", async () => {
    const sent = transport().send({ ...get("http://127.0.0.1:1"), headers: { "bad header": "x" } });

    await expect(sent).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
  });
});

const UUID = "aaaaaaaa-0000-4000-8000-00000000000a";

/** Answers logins; whatever else is asked comes too late, without a status or in the middle of its body. */
class LateTransport implements Transport {
  readonly limitsMs: (number | undefined)[] = [];
  readonly #what: "headers" | "body";

  constructor(what: "headers" | "body") {
    this.#what = what;
  }

  async send({ method, timeoutMs }: Parameters<Transport["send"]>[0]) {
    const headers = new Map([["set-cookie", ["s=1"]]]);
    if (method === "POST")
      return {
        status: 200,
        headers,
        decodedBytes: 0,
        body: { kind: "whole", bytes: Buffer.alloc(0) },
      } as const;
    this.limitsMs.push(timeoutMs);
    if (this.#what === "headers") throw new NoResponse("TIMED_OUT");
    return { status: 200, headers, decodedBytes: 9, body: { kind: "broken", cause: "TIMED_OUT" } } as const;
  }

  async close(): Promise<void> {}
}

describe("the time that a response may take", () => {
  it.each(["headers", "body"] as const)(
    "is 300 s for a page of the list, twice, and that of others for a detail, six times (late %s)",
    async (what) => {
      const transport = new LateTransport(what);
      await using connection = await connect({}, { transport });

      const ofList = await errorOf(connection.service.list());
      const ofDetail = await errorOf(connection.service.detail(UUID));

      expect(ofList).toMatchObject({ code: "SERVICE_UNAVAILABLE", fields: { attempts: 2 } });
      expect(ofDetail).toMatchObject({ code: "SERVICE_UNAVAILABLE", fields: { attempts: 6 } });
      expect(transport.limitsMs).toEqual([300_000, 300_000, ...Array.from({ length: 6 }, () => undefined)]);
    },
  );

  it.each([
    [123_456, 123_456],
    [29_000, 30_000],
  ])(
    "is for a page, with %i ms left to this process, %i ms: never less than for others",
    async (leftMs, limitMs) => {
      const transport = new LateTransport("headers");
      await using connection = await connect({}, { transport, timeLeftMs: () => leftMs });

      await errorOf(connection.service.list());

      expect(transport.limitsMs).toEqual([limitMs, limitMs]);
    },
  );

  it("is that of the request where it has one", async () => {
    await using server = await rawServer(() => undefined);
    await using slow = await httpServer((_, response) => setTimeout(() => response.end("[]"), 100));

    await expect(transport(10_000).send({ ...get(server.url), timeoutMs: 50 })).rejects.toMatchObject({
      reason: "TIMED_OUT",
    });
    expect(await transport(50).send({ ...get(slow.url), timeoutMs: 10_000 })).toMatchObject({ status: 200 });
  });
});

describe("an aborted request", () => {
  it.each(["login", "list", "detail"] as const)(
    "is let go at once, in the middle of a %s request",
    async (path) => {
      const abort = new AbortController();
      await using connection = await connect({
        events: makeEvents(3),
        faults: [{ match: { path, times: Infinity }, fault: { kind: "hang" } }],
        onRequest: ({ endpoint }) => {
          if (endpoint === path) setTimeout(() => abort.abort(new Error("stop")), 10);
        },
      });

      const fetching = (async () => {
        const { events } = await connection.service.list(abort.signal);
        for (const { requestAs } of events) await connection.service.detail(requestAs, abort.signal);
      })();

      await expect(fetching).rejects.toThrow("stop");
    },
  );

  it("is let go while it waits for the next attempt", async () => {
    const abort = new AbortController();
    await using connection = await connect({
      faults: [
        {
          match: { path: "list", times: Infinity },
          fault: { kind: "status", status: 503, headers: { "retry-after": "600" } },
        },
      ],
      onRequest: ({ endpoint }) => {
        if (endpoint === "list") setTimeout(() => abort.abort(new Error("stop")), 10);
      },
    });

    await expect(connection.service.list(abort.signal)).rejects.toThrow("stop");
    expect(connection.simulator.counts.list).toBe(1);
  });
});
