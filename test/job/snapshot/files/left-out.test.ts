import { describe, expect, it } from "vitest";
import {
  type Manifest,
  readLeftOut,
  verifyLeftOut,
  writeLeftOut,
} from "../../../../lambdas/job/snapshot/files/manifest.ts";
import type { LeftOut } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aManifest } from "./manifests.ts";

const KEY = "snapshots/uk/s/_left_out.ndjson";
const LEFT_OUT: readonly LeftOut[] = [
  { uuid: "a1", reason: "gone" },
  { uuid: "b2", reason: "forbidden" },
];
const TEXT = '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"forbidden"}\n';
/** Of these lines, taken with wc and sha256sum. */
const FILE = { bytes: 65, sha256: "a26c655c808d11e4cf0ef9be95a39190e386cb79ee3b9d40acff94f1d5ca71fc" };

describe("the list of what was left out", () => {
  it("is one line for each event", async () => {
    const store = new MemoryStore();

    expect(await writeLeftOut(store, KEY, LEFT_OUT)).toEqual(FILE);
    expect(store.text(KEY)).toBe(TEXT);
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

    await expect(writeLeftOut(store, KEY, LEFT_OUT)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("is read as it was written, and is empty where there is none", async () => {
    const store = new MemoryStore();
    const leftOut = [...LEFT_OUT, { uuid: "é日", reason: "oversize" }] as const;
    await writeLeftOut(store, KEY, leftOut);

    expect(await readLeftOut(store, KEY)).toEqual(leftOut);
    expect(await readLeftOut(store, `${KEY}.other`)).toEqual([]);
  });

  it.each([
    ["its last line has no end", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"'],
    ["it holds a line that is not a uuid with a reason", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"}\n'],
  ])("is not read if %s", async (problem, text) => {
    const store = new MemoryStore();
    store.put(KEY, text);

    await expect(readLeftOut(store, KEY)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: `The file ${KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});

describe("the list beside a manifest", () => {
  const COUNTS = { ...aManifest().counts, gone: 1, forbidden: 1, oversize: 0, too_deep: 0 };
  const OTHER = '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"gone"}\n';

  /** @param text undefined where there is no file */
  async function verify(text: string | undefined, manifest: Partial<Manifest>): Promise<void> {
    const store = new MemoryStore();
    if (text !== undefined) store.put(KEY, text);
    await verifyLeftOut(accountStore(store, "uk"), { snapshot_id: "s", counts: COUNTS, ...manifest });
  }

  it("is not looked for where no event was left out", async () => {
    const counts = { ...COUNTS, gone: 0, forbidden: 0 };

    await expect(verify(OTHER, { counts, left_out: FILE })).resolves.toBeUndefined();
    await expect(verify(undefined, { counts })).resolves.toBeUndefined();
  });

  it.each<[string, Partial<Manifest>]>([
    ["names it", { counts: COUNTS, left_out: FILE }],
    ["counts its events", { counts: COUNTS }],
  ])("verifies where the manifest %s", async (_, manifest) => {
    await expect(verify(TEXT, manifest)).resolves.toBeUndefined();
  });

  it.each<[string, string | undefined, Partial<Manifest>, string]>([
    ["is missing", undefined, { counts: COUNTS, left_out: FILE }, "it is missing"],
    ["is missing for one reason", undefined, { counts: { ...COUNTS, gone: 0 } }, "it is missing"],
    [
      "is another file",
      OTHER,
      { counts: COUNTS, left_out: FILE },
      "its checksum is not the one in the manifest",
    ],
    ["has other reasons", OTHER, { counts: COUNTS }, "it has other events than the manifest counts"],
    ["has more events", TEXT + OTHER, { counts: COUNTS }, "it has other events than the manifest counts"],
  ])("does not verify where it %s", async (_, text, manifest, problem) => {
    await expect(verify(text, manifest)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: `The file ${KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});
