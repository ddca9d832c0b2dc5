import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { connect, errorOf } from "./connection.ts";
import { httpServer } from "./http/local-server.ts";

const MIB = 1_048_576;
const UUID = "aaaaaaaa-0000-4000-8000-00000000000a";

/** `piece` over and over, so many bytes of it. */
const filled = (piece: string, bytes: number): Buffer => Buffer.alloc(bytes - (bytes % piece.length), piece);
const gzipped = (...parts: readonly (string | Buffer)[]): Buffer =>
  gzipSync(Buffer.concat(parts.map((part) => Buffer.from(part))), { level: 1 });

/** With a heap that has not even room for the text. */
const readWithLittleMemory = async (gzip: Buffer): Promise<unknown> => {
  const worker = new Worker(new URL("./bomb-reader.ts", import.meta.url), {
    workerData: new Uint8Array(gzip),
    resourceLimits: { maxOldGenerationSizeMb: 48 },
  });
  const [message] = await once(worker, "message");
  await worker.terminate();
  return message;
};

describe("a list that is a bomb", () => {
  it.each([
    ["of numbers", gzipped("[", filled("0,", 24 * MIB), "0]"), "has more than 1,000,000 entries"],
    ["of objects", gzipped("[", filled("{},", 24 * MIB), "{}]"), "has more than 1,000,000 entries"],
    [
      "keyed by uuid",
      gzipped('{"data":{', filled(`"${UUID}":{},`, 48 * MIB), `"${UUID}":{}}}`),
      "has more than 1,000,000 entries",
    ],
    [
      "nested deeply",
      gzipped(filled("[", 12 * MIB), filled("]", 12 * MIB)),
      "is nested more than 1,000 levels deep",
    ],
    ["nested without an end", gzipped(filled('{"a":', 24 * MIB)), "is nested more than 1,000 levels deep"],
    [
      "with one large entry",
      gzipped("[[", filled("[],", 24 * MIB), "[]]]"),
      "has an entry of more than 4 MiB",
    ],
    [
      "with much beside the list",
      gzipped('{"data":[],"x":[', filled("[],", 24 * MIB), "0]}"),
      "has more than 4 MiB beside its entries",
    ],
    [
      "with many keys beside the list",
      gzipped('{"data":{"events":[],', filled('"":0,', 24 * MIB), '"":0}}'),
      "has more than 4 MiB beside its entries",
    ],
    [
      "that is somewhere else",
      gzipped('{"x":[', filled("[],", 24 * MIB), "0]}"),
      "more than 100000 in all]}",
    ],
    ["of white space", gzipped("[", filled(" ", 24 * MIB), "]"), "0 events, 0 rejected"],
    ["of rejected entries", gzipped("[", filled("0,", 1_999_998), "0]"), "0 events, 1000000 rejected"],
    ["longer than 256 MiB", gzipped(filled(" ", 256 * MIB + 1)), "oversize"],
  ])("%s is read in little memory: %#", async (_, gzip, expected) => {
    expect(await readWithLittleMemory(gzip)).toContain(expected);
  });

  it("ends the run with what was found and what to do", async () => {
    const bomb = gzipped("[", filled("0,", 3 * MIB), "0]");
    await using server = await httpServer((_, response) =>
      response.setHeader("set-cookie", "s=1").setHeader("content-encoding", "gzip").end(bomb),
    );
    await using connection = await connect({}, { baseUrl: server.url });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", isRetryable: false });
    expect(error).toHaveProperty(
      "message",
      "The list of events (GET /v1/events) has more than 1,000,000 entries, and is not read " +
        "further. Nothing was published. Check that --base-url is the service itself and --list-pointer leads to the " +
        "events; if so, ask the service's operator.",
    );
  });

  it("may be one over all its pages together", async () => {
    const page = gzipped("[", filled("0,", 1_200_000), "0]");
    const requests: string[] = [];
    await using server = await httpServer((request, response) => {
      requests.push(request.url ?? "");
      response
        .setHeader("set-cookie", "s=1")
        .setHeader("link", `<?page=${requests.length}>; rel=next`)
        .setHeader("content-encoding", "gzip")
        .end(page);
    });
    await using connection = await connect({}, { baseUrl: server.url });

    const error = await errorOf(connection.service.list());

    expect(error).toHaveProperty("message", expect.stringContaining("has more than 1,000,000 entries"));
    expect(requests).toHaveLength(3);
  });
});

describe("the body of a login that is a bomb", () => {
  it("is not read", async () => {
    const bomb = gzipped(filled("[", 24 * MIB));
    await using server = await httpServer((request, response) => {
      if (request.method !== "POST") response.end("[]");
      else response.setHeader("set-cookie", "s=1").setHeader("content-encoding", "gzip").end(bomb);
    });
    await using connection = await connect({}, { baseUrl: server.url });

    expect(await connection.service.list()).toMatchObject({ events: { length: 0 } });
  });
});
