import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { deflated, linesIn } from "../../../../lambdas/job/snapshot/files/gzip/line-blocks.ts";
import { stagedBlock } from "../../../../lambdas/job/snapshot/files/gzip/staged-blocks.ts";
import { readShard, writeShard } from "../../../../lambdas/job/snapshot/staging/shard.ts";
import type { StagedResult } from "../../../../lambdas/job/snapshot/staging/staged-result.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "../files/streams.ts";

const KEY = "runs/uk/r/shard-00003.ndjson.gz";
const UUIDS = ["a1", "b2", "c3", "d4"];
// Not how a row would be written today: a line is passed through, never written again.
const LINE_A = '{"uuid":"a1","event_date":null,"scope": "\\u0041","event":"{}","listing":"{}"}';
const LINE_C = '{"uuid":"c3","event":"1e400"}';
const LEFT_OUT = [
  { uuid: "b2", reason: "gone" },
  { uuid: "d4", reason: "oversize" },
];
const TRAILER = {
  shard: 3,
  rows: 2,
  left_out: LEFT_OUT,
  // printf '%s\n' "$LINE_A" "$LINE_C" | sha256sum
  sha256: "728c5f400213c7567d956a089198c5515928a9310fb9ac91297bb2f8c3a37b27",
};
const RESULTS: readonly StagedResult[] = [
  { uuid: "a1", line: LINE_A },
  { uuid: "b2", leftOut: "gone" },
  { uuid: "c3", line: LINE_C },
  { uuid: "d4", leftOut: "oversize" },
];

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

type LineOrValue = string | object;
const textOf = (line: LineOrValue): string => `${typeof line === "string" ? line : JSON.stringify(line)}\n`;

/** As an earlier version wrote it. */
const put = (...lines: readonly LineOrValue[]): void => store.put(KEY, gzipSync(lines.map(textOf).join("")));

/** In blocks of one line. */
async function stage(...lines: readonly LineOrValue[]): Promise<void> {
  const blocks = await Promise.all(lines.map((line) => deflated(Buffer.from(textOf(line)))));
  store.put(KEY, Buffer.concat(blocks.map(stagedBlock)));
}

/** Of heap and buffers, without garbage. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function read(uuids: readonly string[] = UUIDS): Promise<{ lines: string[]; trailer: unknown }> {
  const lines: string[] = [];
  const shard = readShard(store, KEY, 3, uuids);
  for (;;) {
    const next = await shard.next();
    if (next.done === true) return { lines, trailer: next.value };
    lines.push(...linesIn(next.value.text));
  }
}

describe("a shard", () => {
  it("is written as its rows and a trailer", async () => {
    expect(await writeShard(store, KEY, 3, streamOf(...RESULTS))).toEqual(LEFT_OUT);

    const stored = await store.read(KEY);
    const lines = gunzipSync(stored?.bytes ?? "")
      .toString()
      .split("\n");
    expect(lines).toEqual([LINE_A, LINE_C, JSON.stringify(TRAILER), ""]);
  });

  it("is read back line by line, unchanged, and then says what was left out", async () => {
    await writeShard(store, KEY, 3, streamOf(...RESULTS));

    expect(await read()).toEqual({ lines: [LINE_A, LINE_C], trailer: TRAILER });
  });

  it("may have a row for every event", async () => {
    const lines = ["a1", "b2", "c3"].map((uuid) => `{"uuid":"${uuid}"}`);
    const results = lines.map((line, index): StagedResult => ({ uuid: UUIDS[index] ?? "", line }));
    await writeShard(store, KEY, 3, streamOf(...results));

    expect(await read(["a1", "b2", "c3"])).toMatchObject({ lines, trailer: { rows: 3, left_out: [] } });
  });

  it("may have no rows at all", async () => {
    await writeShard(store, KEY, 3, streamOf<StagedResult>({ uuid: "a1", leftOut: "forbidden" }));

    expect(await read(["a1"])).toMatchObject({
      lines: [],
      trailer: { rows: 0, left_out: [{ uuid: "a1", reason: "forbidden" }] },
    });
  });

  it("of an earlier version is read", async () => {
    put(LINE_A, LINE_C, TRAILER);

    expect(await read()).toEqual({ lines: [LINE_A, LINE_C], trailer: TRAILER });
  });

  it("gives its rows deflated, and without the trailer", async () => {
    await writeShard(store, KEY, 3, streamOf(...RESULTS));
    const [rows, ...more] = await Array.fromAsync(readShard(store, KEY, 3, UUIDS));

    expect(rows?.text.toString()).toBe(`${LINE_A}\n${LINE_C}\n`);
    expect(rows).toHaveProperty("deflated");
    expect(more).toEqual([]);
  });

  it("is read in the memory of a few rows, however many it has", async () => {
    const uuids = Array.from({ length: 200 }, (_, index) => `00000000-0000-4000-8000-${1e11 + index}`);
    const rest = "x".repeat(100_000);
    const results = uuids.map(
      (uuid): StagedResult => ({ uuid, line: `{"uuid":"${uuid}","event":"${rest}"}` }),
    );
    await writeShard(store, KEY, 3, streamOf(...results));
    results.length = 0;
    const before = usedBytes();

    const isLast = (line: string): boolean => line.includes(uuids.at(-1) ?? "");
    let atLast = 0;
    const onRow = (line: string): void => {
      if (isLast(line)) atLast = usedBytes() - before;
    };
    for await (const _ of readShard(store, KEY, 3, uuids, onRow));

    expect(atLast).not.toBe(0);
    expect(atLast).toBeLessThan(10_000_000); // the rows have 20 MB
  });

  it("that exists already is kept", async () => {
    await writeShard(store, KEY, 3, streamOf(...RESULTS));

    expect(await writeShard(store, KEY, 3, streamOf<StagedResult>())).toBeUndefined();
    expect(await read()).toMatchObject({ lines: [LINE_A, LINE_C] });
  });

  it("appears only whole: an error of its results passes through and leaves nothing", async () => {
    const failure = new Error("the service is gone");
    async function* results(): AsyncGenerator<StagedResult> {
      yield { uuid: "a1", line: LINE_A };
      throw failure;
    }

    await expect(writeShard(store, KEY, 3, results())).rejects.toBe(failure);

    expect(store.keys()).toEqual([]);
  });
});

/** What is damaged, what the error says, and what does it. */
type Damage = [string, string, () => void | Promise<void>];

describe("a damaged shard", () => {
  const [gone, oversize] = TRAILER.left_out;

  const damages: readonly [string, string, readonly LineOrValue[]][] = [
    ["no trailer", "last line is missing", [LINE_A, LINE_C]],
    ["a row behind the trailer", "follows its last", [LINE_A, LINE_C, TRAILER, LINE_C]],
    ["two trailers", "follows its last", [LINE_A, LINE_C, TRAILER, TRAILER]],
    ["another shard's trailer", "says that it is shard 4", [LINE_A, LINE_C, { ...TRAILER, shard: 4 }]],
    ["a row less", "not as many", [LINE_A, TRAILER]],
    ["a row that was changed", "checksum", [LINE_A, LINE_C.replace("1", "2"), TRAILER]],
    ["rows in another order", "does not have there", [LINE_C, LINE_A, TRAILER]],
    ["a row twice", "does not have there", [LINE_A, LINE_A, TRAILER]],
    ["a row that was not planned", "does not have there", [LINE_A, '{"uuid":"x9"}', TRAILER]],
    ["an unfinished uuid", "does not have there", ['{"uuid":"a1', TRAILER]],
    [
      "an event neither there nor left out",
      "those of the plan",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [gone] }],
    ],
    [
      "an event there and left out",
      "those of the plan",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [gone, { uuid: "c3", reason: "gone" }, oversize] }],
    ],
    [
      "left out in another order",
      "those of the plan",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [oversize, gone] }],
    ],
    [
      "left out twice",
      "those of the plan",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [gone, gone, oversize] }],
    ],
    [
      "left out and not planned",
      "those of the plan",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [gone, oversize, { uuid: "x9", reason: "gone" }] }],
    ],
    [
      "an unknown reason",
      "neither a row",
      [LINE_A, LINE_C, { ...TRAILER, left_out: [{ uuid: "b2", reason: "secret" }, oversize] }],
    ],
    ["a line that is no JSON", "neither a row", [LINE_A, '{"secret', TRAILER]],
  ];

  const files: Damage[] = [
    ["missing", "it is missing", () => undefined],
    ["cut off", "gzip", () => store.put(KEY, gzipSync(`${LINE_A}\n`).subarray(0, 20))],
    ...damages.flatMap(([what, problem, lines]): Damage[] => [
      [what, problem, () => stage(...lines)],
      [`${what}, in a file of an earlier version`, problem, () => put(...lines)],
    ]),
  ];

  it.each(files)("is refused by name with the remedy, unquoted: %s", async (_, problem, damage) => {
    await damage();

    const error: unknown = await read().catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(problem),
      fields: { key: KEY },
    });
    expect(String(error)).toMatch(/Delete this file and start again\.$/);
    expect(String(error)).not.toContain("secret");
  });
});
