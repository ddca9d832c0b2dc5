import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NoResponse } from "../../../../lambdas/job/service/http/transport.ts";
import { errorOf } from "../connection.ts";
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

  it("is not assumed for a programming error", async () => {
    const sent = transport().send({ ...get("http://127.0.0.1:1"), headers: { "bad header": "x" } });

    await expect(sent).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
  });
});
