import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { told } from "../../words/said.ts";
import { connect, failedList } from "./connection.ts";
import { httpServer } from "./http/local-server.ts";

const MIB = 1_048_576;
const UUID = "aaaaaaaa-0000-4000-8000-00000000000a";

/** `piece` over and over, so many bytes of it. */
const filled = (piece: string, bytes: number): Buffer =>
  Buffer.alloc(bytes - (bytes % Buffer.byteLength(piece)), piece);
const joined = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
/** An array of so many events with this text, numbered. */
const numbered = (from: number, count: number, value: string): Buffer => {
  const entries = Array.from(
    { length: count },
    (_, n) =>
      `{"uuid":"${(from + n).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000","t":"${value}"}`,
  );
  return Buffer.from(`[${entries.join(",")}]`);
};

/** In a process of its own, the first page zipped, with V8's flags as the program has them. */
const readInProcess = async (pages: readonly Buffer[]) => {
  const bodies = pages.map((page, at) => (at === 0 ? gzipSync(page, { level: 1 }) : page));
  await using server = await httpServer((request, response) => {
    const at = Number(new URL(request.url ?? "", "http://x").searchParams.get("page") ?? 0);
    if (at === 0) response.setHeader("content-encoding", "gzip");
    if (at + 1 < bodies.length) response.setHeader("link", `<?page=${at + 1}>; rel=next`);
    response.end(bodies[at]);
  });
  const reader = spawn(process.execPath, [
    ...["--max-semi-space-size=4", "--heap-growing-percent=20", "--initial-old-space-size=16"],
    ...[`${import.meta.dirname}/bomb-reader.ts`, server.url],
  ]);
  const output = await text(reader.stdout);
  return JSON.parse(output) as { readonly outcome: string; readonly peakMiB: number };
};

describe("a list at its limits", () => {
  it.each<readonly [what: string, pages: () => readonly Buffer[], expected: string]>([
    [
      "of small objects",
      () => [joined("[", filled("{},", 64 * MIB - 10), "{}]")],
      "more than 1,000,000 entries",
    ],
    ["of rejected entries", () => [joined("[", filled("0,", 1_999_998), "0]")], "0 events, 1000000 rejected"],
    [
      "of a million events of two-byte texts on two pages",
      () => [numbered(0, 500_000, "ж".repeat(38)), numbered(500_000, 500_000, "ж".repeat(38))],
      "1000000 events, 0 rejected",
    ],
    [
      "of the largest entries",
      () => [0, 16].map((from) => numbered(from, 16, "ж".repeat(2 * MIB - 100))),
      "32 events, 0 rejected",
    ],
    [
      "keyed by uuid",
      () => [joined('{"data":{', filled(`"${UUID}":{},`, 60 * MIB), `"${UUID}":{}}}`)],
      "more than 1,000,000 entries",
    ],
    [
      "nested deeply",
      () => [joined(filled("[", 32 * MIB), filled("]", 32 * MIB))],
      "nested more than 1,000 levels deep",
    ],
    ["nested without an end", () => [filled('{"a":', 60 * MIB)], "nested more than 1,000 levels deep"],
    [
      "with one large entry",
      () => [joined("[[", filled("[],", 60 * MIB), "[]]]")],
      "an entry of more than 4 MiB",
    ],
    [
      "with much beside the list",
      () => [joined('{"data":[],"x":[', filled("[],", 60 * MIB), "0]}")],
      "more than 4 MiB beside its entries",
    ],
    [
      "that is somewhere else",
      () => [joined('{"x":[', filled("[],", 60 * MIB), "0]}")],
      "more than 100000 in all]}",
    ],
    ["of white space", () => [joined("[", filled(" ", 64 * MIB - 2), "]")], "0 events, 0 rejected"],
    [
      "with a page that is too large",
      () => [filled(" ", 64 * MIB + 1)],
      "has more than 64 MiB in a page, or 128 MiB in all of them",
    ],
    [
      "with pages that are too large together",
      () => [0, 11, 22].map((from) => numbered(from, 11, "x".repeat(4 * MIB - 100))),
      "has more than 64 MiB in a page, or 128 MiB in all of them",
    ],
  ])("%s is read in at most 450 MiB: %#", async (_, make, expected) => {
    const { outcome, peakMiB } = await readInProcess(make());

    expect(outcome).toContain(expected);
    expect(peakMiB).toBeLessThan(450);
  });

  it("ends the run with what was found and what to do", async () => {
    const bomb = gzipSync(joined("[", filled("0,", 3 * MIB), "0]"), { level: 1 });
    await using server = await httpServer((_, response) =>
      response.setHeader("set-cookie", "s=1").setHeader("content-encoding", "gzip").end(bomb),
    );

    const { error } = await failedList({}, { baseUrl: server.url });

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", isRetryable: false });
    expect(told(error)).toHaveProperty(
      "message",
      "The list of events has more than 1,000,000 entries, and is not read further. Nothing was published. Check that " +
        "--base-url is the service itself and --list-pointer leads to the events; if so, ask the service's operator.",
    );
  });
});

describe("the body of a login that is a bomb", () => {
  it("is not read", async () => {
    const bomb = gzipSync(filled("[", 24 * MIB), { level: 1 });
    await using server = await httpServer((request, response) => {
      if (request.method !== "POST") response.end("[]");
      else response.setHeader("set-cookie", "s=1").setHeader("content-encoding", "gzip").end(bomb);
    });
    await using connection = await connect({}, { baseUrl: server.url });

    expect(await connection.service.list()).toMatchObject({ events: { length: 0 } });
  });
});
