import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { DeflatedBlock } from "../../../../lambdas/job/snapshot/files/gzip/line-blocks.ts";
import { PartialShards } from "../../../../lambdas/job/snapshot/staging/partial-shards.ts";
import {
  ShardWriter,
  type ShardWriterOptions,
} from "../../../../lambdas/job/snapshot/staging/shard-writer.ts";
import type { StagedResult } from "../../../../lambdas/job/snapshot/staging/staged-result.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "../files/streams.ts";

const KEY = "runs/uk/r/kept-00000.ndjson.gz";
const PLAN = "the plan's checksum";
const failure = new Error("stopped");
const longRow = (uuid: string): StagedResult => ({
  uuid,
  line: `{"uuid":"${uuid}","event":"${"1".repeat(100_000)}"}`,
});
const row = (uuid: string): StagedResult => ({ uuid, line: `{"uuid":"${uuid}","event":"1.0"}` });
const left = (uuid: string): StagedResult => ({ uuid, leftOut: "gone" });

async function* breaking(...results: readonly StagedResult[]): AsyncGenerator<StagedResult> {
  yield* results;
  throw failure;
}

function shardOf(options: Partial<ShardWriterOptions>): ShardWriter {
  const results = breaking(row("a1"), left("b2"));
  return new ShardWriter({ index: 3, planSha256: PLAN, results, restAfter: () => streamOf(), ...options });
}

async function consume(shard: ShardWriter): Promise<unknown> {
  return Array.fromAsync(shard.body()).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function read(file: Uint8Array | undefined, plan = PLAN): Promise<PartialShards | undefined> {
  const store = new MemoryStore();
  store.put(KEY, file ?? "");
  return PartialShards.read(store, KEY, plan);
}

describe("a shard whose results fail", () => {
  it("throws the error as it came, and leaves what was finished and what waited", async () => {
    const shard = shardOf({ restAfter: () => streamOf(row("d4"), left("e5")) });

    const error = await consume(shard);
    const kept = await read(shard.partial?.file);

    expect(error).toBe(failure);
    expect(shard.partial?.events).toBe(4);
    expect(["a1", "b2", "c3", "d4", "e5"].map((uuid) => kept?.has(uuid))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(await kept?.take("a1")).toEqual(row("a1"));
    expect(await kept?.take("b2")).toEqual(left("b2"));
    expect(await kept?.take("d4")).toEqual(row("d4"));
    await kept?.close();
  });

  it("gives the store nothing of what is kept", async () => {
    const chunks: Uint8Array[] = [];
    const shard = shardOf({});

    const error = await (async () => {
      for await (const chunk of shard.body()) chunks.push(chunk);
    })().catch((thrown: unknown) => thrown);

    expect(error).toBe(failure);
    expect(chunks).toEqual([]);
  });

  it("keeps what could be read when the rest cannot be", async () => {
    const shard = shardOf({ restAfter: () => breaking(row("d4")) });

    const error = await consume(shard);
    const kept = await read(shard.partial?.file);

    expect(error).toBe(failure);
    expect([kept?.has("a1"), kept?.has("d4")]).toEqual([true, true]);
    await kept?.close();
  });

  it.each<{ why: string; options: Partial<ShardWriterOptions> }>([
    { why: "nothing is to be kept", options: { restAfter: () => undefined } },
    { why: "it is larger than may wait in memory", options: { maxPartialBytes: 10 } },
  ])("leaves nothing where $why", async ({ options }) => {
    const shard = shardOf(options);

    expect(await consume(shard)).toBe(failure);
    expect(shard.partial).toBeUndefined();
  });

  it("leaves nothing where the store stops reading", async () => {
    const shard = shardOf({ results: streamOf(row("a1")) });

    for await (const _ of shard.body()) break;

    expect(shard.partial).toBeUndefined();
  });
});

describe("a shard that is whole", () => {
  it("shows each block of its rows before it is in the file, and nothing else", async () => {
    const blocks: Pick<DeflatedBlock, "deflated">[] = [];
    const texts: string[] = [];
    const onBlock = async (block: DeflatedBlock): Promise<void> => {
      blocks.push({ deflated: block.deflated });
      texts.push(block.text.toString());
    };
    const rows = [row("a1"), left("b2"), ...Array.from({ length: 9 }, (_, n) => longRow(`c${n}`))];

    const shard = shardOf({ results: streamOf(...rows), onBlock });
    const bytes = Buffer.concat(await Array.fromAsync(shard.body()));

    expect(blocks.length).toBeGreaterThan(1);
    expect(gunzipSync(bytes).toString().startsWith(texts.join(""))).toBe(true);
    expect(texts.join("").trimEnd().split("\n")).toHaveLength(10);
    expect(blocks.every(({ deflated }) => bytes.includes(deflated))).toBe(true);
    expect(shard.leftOut).toEqual([{ uuid: "b2", reason: "gone" }]);
  });

  it("is a shard, and leaves nothing beside it", async () => {
    const shard = shardOf({ results: streamOf(row("a1")) });

    const bytes = Buffer.concat(await Array.fromAsync(shard.body()));

    expect(gunzipSync(bytes).toString()).toContain('\n{"shard":3,"rows":1,');
    expect(shard.partial).toBeUndefined();
    expect(await read(bytes)).toBeUndefined();
  });
});

describe("kept work", () => {
  it("of an earlier version, one ordinary gzip member, is used", async () => {
    const shard = shardOf({ restAfter: () => streamOf(row("d4")) });
    await consume(shard);

    const kept = await read(gzipSync(gunzipSync(shard.partial?.file ?? "")));

    expect(await kept?.take("a1")).toEqual(row("a1"));
    expect(await kept?.take("b2")).toEqual(left("b2"));
    expect(await kept?.take("d4")).toEqual(row("d4"));
    await kept?.close();
  });

  it("of another plan is not used", async () => {
    const shard = shardOf({});
    await consume(shard);

    expect(await read(shard.partial?.file, "another")).toBeUndefined();
  });

  it("whose rows are not in the order of the plan is not used", async () => {
    const shard = shardOf({ results: breaking(row("d4"), row("a1")) });
    await consume(shard);

    expect(await read(shard.partial?.file)).toBeUndefined();
  });

  it("that is not there is nothing", async () => {
    expect(await PartialShards.read(new MemoryStore(), KEY, PLAN)).toBeUndefined();
    expect(PartialShards.none.has("a1")).toBe(false);
  });
});
