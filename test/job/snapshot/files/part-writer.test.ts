import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type DeflatedBlock,
  deflated,
  type LineBlock,
} from "../../../../lambdas/job/snapshot/files/gzip/line-blocks.ts";
import type { PartInfo, WrittenPart } from "../../../../lambdas/job/snapshot/files/part-info.ts";
import { PartWriter } from "../../../../lambdas/job/snapshot/files/part-writer.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "./streams.ts";

const key = (index: number): string => `snapshots/uk/s/part-0000${index}.ndjson.gz`;

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

async function write(
  blocks: readonly (LineBlock | DeflatedBlock)[],
  maxBytes?: number,
): Promise<readonly WrittenPart[]> {
  const parts = new PartWriter({ store, key, ...(maxBytes === undefined ? {} : { maxBytes }) });
  for (const block of blocks) await parts.append(block);
  return parts.finish();
}

/** What is the same however the rows are compressed. */
const rowsOf = ({ stored: _, ...part }: WrittenPart): PartInfo => part;

describe("parts from blocks", () => {
  it("hold the deflated blocks as they are", async () => {
    const blocks = [await deflated(Buffer.from("a\nb\n"), 9), await deflated(Buffer.from("c\n"), 0)];

    const [part] = await write(blocks);

    const file = Buffer.from((await store.read(key(0)))?.bytes ?? "");
    expect(blocks.every((block) => file.includes(block.deflated))).toBe(true);
    expect(gunzipSync(file, { rejectGarbageAfterEnd: true }).toString()).toBe("a\nb\nc\n");
    expect(part).toMatchObject({ rows: 3, bytes: 6 });
  });

  it("are those of the same lines, however these come in blocks", async () => {
    const text = fc
      .array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 9 })
      .map((lines) => lines.map((line) => `${line.replaceAll("\n", "n")}\n`).join(""));

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, fc.boolean()), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        async (blocks, maxBytes) => {
          const whole = blocks.map(([lines]) => lines).join("");
          store = new MemoryStore();
          const wanted = await writeParts({
            store: new MemoryStore(),
            key,
            lines: streamOf(...whole.slice(0, -1).split("\n")),
            maxBytes,
          });

          const parts = await write(
            await Promise.all(
              blocks.map(([lines, isDeflated]) => {
                const bytes = Buffer.from(lines);
                return isDeflated ? deflated(bytes) : { text: bytes };
              }),
            ),
            maxBytes,
          );

          expect(parts.map(rowsOf)).toEqual(wanted.map(rowsOf));
          const stored = await Promise.all(parts.map((_, index) => store.read(key(index))));
          expect(Buffer.concat(stored.map((part) => gunzipSync(part?.bytes ?? ""))).toString()).toBe(whole);
        },
      ),
    );
  });

  it("are not there where there is no block", async () => {
    expect(await write([])).toEqual([]);
    expect(store.keys()).toEqual([]);
  });
});

describe("a part that is not finished", () => {
  it("leaves nothing once it is aborted; the parts before it stay", async () => {
    const parts = new PartWriter({ store, key, maxBytes: 2 });
    await parts.append({ text: Buffer.from("a\nb\n") });
    await parts.release();

    await parts.abort(new Error("a damaged shard"));

    expect(store.keys()).toEqual([key(0)]);
  });

  it("gives the store nothing that is not released, not even a full part", async () => {
    const parts = new PartWriter({ store, key, maxBytes: 2 });
    await parts.append({ text: Buffer.from("a\n") });
    await parts.release();
    await parts.append({ text: Buffer.from("b\nc\n") });

    await new Promise((resolve) => setImmediate(resolve));
    const before = store.keys();
    await parts.release();

    expect(before).toEqual([]);
    expect(store.keys()).toEqual([key(0), key(1)]);
    expect((await parts.finish()).map(({ rows }) => rows)).toEqual([1, 1, 1]);
  });

  it("begins no file any more, also of what was released before", async () => {
    const parts = new PartWriter({ store, key });
    await parts.append({ text: Buffer.from("a\n") });

    const released = parts.release();
    await parts.abort(new Error("stopped"));

    await expect(released).rejects.toThrow("stopped");
    await expect(parts.finish()).rejects.toThrow("stopped");
    expect(store.keys()).toEqual([]);
  });

  it("says how many compressed bytes wait for the store", async () => {
    const parts = new PartWriter({ store, key });
    const block = await deflated(Buffer.from("a\n"));
    await parts.append(block);
    const waiting = parts.waitingBytes;
    await parts.finish();

    expect(waiting).toBe(10 + block.deflated.length);
    expect(parts.waitingBytes).toBe(0);
  });

  it.each<[string, Store["create"]]>([
    [
      "before it reads",
      async () => {
        throw new Error("the disk is full");
      },
    ],
    [
      "while it reads",
      async (_key, body) => {
        if (!(body instanceof Uint8Array)) for await (const _ of body) throw new Error("the disk is full");
        return undefined;
      },
    ],
  ])("passes the error on of a store that fails %s", async (_, create) => {
    const parts = new PartWriter({ store: Object.assign(store, { create }), key });
    const append = async (): Promise<void> => {
      for (let block = 0; block < 10; block += 1) {
        await parts.append({ text: Buffer.from("a\n") });
        await parts.release();
      }
    };

    await expect(append()).rejects.toThrow("the disk is full");
    await parts.abort(new Error("the disk is full"));
  });
});
