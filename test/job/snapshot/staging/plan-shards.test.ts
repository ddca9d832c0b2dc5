import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PlanShards } from "../../../../lambdas/job/snapshot/staging/plan-shards.ts";
import { uuidOf } from "../../../simulator/simulated-event.ts";

const shardsOf = (shardSize: number, lines: Iterable<string>): PlanShards => {
  const shards = new PlanShards(shardSize);
  for (const line of lines) shards.add(line);
  return shards;
};

/** Of heap and buffers, without garbage. */
const usedBytes = (): number => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

describe("the lines of a plan in memory", () => {
  it("are given back shard by shard, as often as they are read", () => {
    const line = fc.string({ unit: "binary" }).map((text) => JSON.stringify(text));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (lines, shardSize) => {
        const shards = shardsOf(shardSize, lines);
        const expected = lines.flatMap((_, at) =>
          at % shardSize === 0 ? [lines.slice(at, at + shardSize)] : [],
        );

        for (const _ of ["at first", "again"]) {
          expect(expected.map((__, index) => [...shards.lines(index)])).toEqual(expected);
        }
        expect(expected.map((__, index) => shards.sizeOf(index))).toEqual(
          expected.map(({ length }) => length),
        );
        expect([shards.length, shards.shards]).toEqual([lines.length, expected.length]);
        expect([
          [...shards.lines(-1)],
          [...shards.lines(expected.length)],
          shards.sizeOf(expected.length),
        ]).toEqual([[], [], 0]);
      }),
    );
  });

  it("cost less than half of their own size", () => {
    const events = 30_000;
    const before = usedBytes();

    const shards = shardsOf(
      1_000,
      Iterator.from(Array(events).keys()).map((n) => {
        const uuid = uuidOf(String(n));
        return `{"uuid":"${uuid}","listing":"{\\"uuid\\":\\"${uuid}\\",\\"name\\":\\"${"a name ".repeat(20)}\\"}"}`;
      }),
    );

    expect((usedBytes() - before) / events).toBeLessThan(140); // of 280, and other things in this process take some, too
    expect([...shards.lines(29)]).toHaveLength(1_000);
  });
});
