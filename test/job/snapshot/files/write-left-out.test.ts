import { describe, expect, it } from "vitest";
import { writeLeftOut } from "../../../../lambdas/job/snapshot/files/write-left-out.ts";
import type { LeftOut } from "../../../../lambdas/job/snapshot/staging/staged-result.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

const KEY = "snapshots/uk/s/_left_out.ndjson";
const LEFT_OUT: readonly LeftOut[] = [
  { uuid: "a1", reason: "gone" },
  { uuid: "b2", reason: "forbidden" },
];

describe("the list of what was left out", () => {
  it("is one line for each event", async () => {
    const store = new MemoryStore();

    await writeLeftOut(store, KEY, LEFT_OUT);

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

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).resolves.toBeUndefined();
  });

  it("is refused by name if another one is there", async () => {
    const store = new MemoryStore();
    await writeLeftOut(store, KEY, LEFT_OUT.slice(1));

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/_left_out\.ndjson is damaged: .* Delete this file and start again\.$/),
    });
  });
});
