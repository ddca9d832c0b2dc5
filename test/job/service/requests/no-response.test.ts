import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NoResponse } from "../../../../lambdas/job/service/http/transport.ts";
import { httpServer, rawServer } from "../http/local-server.ts";
import { get, transport } from "../http/transport-setup.ts";

describe("an attempt without a response", () => {
  it.each([
    ["no server listens", undefined, "ECONNREFUSED"],
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

    expect(error).toBeInstanceOf(NoResponse);
    expect(error).toMatchObject({ reason, message: `no response (${reason})` });
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

  it("is not assumed for a programming error", async () => {
    const sent = transport().send({ ...get("http://127.0.0.1:1"), headers: { "bad header": "x" } });

    await expect(sent).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
  });
});
