import { describe, expect, it } from "vitest";
import { NoResponse, type Transport } from "../../../../lambdas/job/service/http/transport.ts";
import { connect, errorOf } from "../connection.ts";
import { httpServer, rawServer } from "../http/local-server.ts";
import { get, transport } from "../http/transport-setup.ts";

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
