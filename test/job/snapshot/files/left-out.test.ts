import { describe, expect, it } from "vitest";
import { readLeftOut, writeLeftOut } from "../../../../lambdas/job/snapshot/files/left-out.ts";
import type { LeftOut } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "./streams.ts";

const KEY = "snapshots/uk/s/_left_out.ndjson";
const LEFT_OUT: readonly LeftOut[] = [
  { uuid: "a1", reason: "gone" },
  { uuid: "b2", reason: "forbidden" },
];
/** Of these lines, taken with wc and sha256sum. */
const FILE = { bytes: 65, sha256: "a26c655c808d11e4cf0ef9be95a39190e386cb79ee3b9d40acff94f1d5ca71fc" };

describe("the list of what was left out", () => {
  it("is one line for each event", async () => {
    const store = new MemoryStore();

    expect(await writeLeftOut(store, KEY, LEFT_OUT)).toEqual(FILE);
    expect(store.text(KEY)).toBe('{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"forbidden"}\n');
  });

  it("is not written when nothing was left out", async () => {
    const store = new MemoryStore();

    await writeLeftOut(store, KEY, []);

    expect(store.keys()).toEqual([]);
  });

  it("may be there already if it is the same", async () => {
    const store = new MemoryStore();
    await writeLeftOut(store, KEY, LEFT_OUT);

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).resolves.toEqual(FILE);
  });

  it.each([
    ["has other events", '{"uuid":"b2","reason":"forbidden"}\n'],
    ["is cut off", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"'],
  ])("is refused by name if one is there that %s", async (_, text) => {
    const store = new MemoryStore();
    store.put(KEY, text);

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/_left_out\.ndjson is damaged: .* Delete this file and start again\.$/),
    });
  });

  it("is refused by name if one was there and is gone", async () => {
    const store = new MemoryStore();
    store.create = async () => undefined;

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/it is missing\. Delete this file and start again\.$/),
    });
  });

  it("is read as it was written, however the bytes are cut", async () => {
    const store = new MemoryStore();
    const leftOut = [...LEFT_OUT, { uuid: "é日", reason: "oversize" }] as const;
    await writeLeftOut(store, KEY, leftOut);
    const bytes = Buffer.from((await store.read(KEY))?.bytes ?? []);
    store.open = async () => streamOf(...Array.from(bytes, (byte) => Buffer.of(byte)));

    expect(await Array.fromAsync(readLeftOut(store, KEY))).toEqual(leftOut);
  });

  it.each([
    ["its last line has no end", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"'],
    ["it holds a line that is not a uuid with a reason", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"}\n'],
  ])("is not read to its end if %s", async (problem, text) => {
    const store = new MemoryStore();
    store.put(KEY, text);

    await expect(Array.fromAsync(readLeftOut(store, KEY))).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: `The file ${KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});
