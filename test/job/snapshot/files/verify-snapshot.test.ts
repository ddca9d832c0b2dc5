import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { readLines } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { createManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { verifyPart } from "../../../../lambdas/job/snapshot/files/verify-part.ts";
import { verifySnapshot } from "../../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aManifest } from "./manifests.ts";
import { streamOf } from "./streams.ts";

const ID = "2026-11-21T06-00-00.000Z";
const part = (index: number): string => layout("uk").part(ID, index);
const manifestKey = layout("uk").manifest(ID);

let store: MemoryStore;

beforeEach(async () => {
  store = new MemoryStore();
  const parts = await writeParts({
    store,
    key: part,
    lines: streamOf('{"uuid":"a"}', '{"uuid":"b"}', '{"uuid":"c"}'),
    maxBytes: 30,
  });
  const counts = { ...aManifest().counts, listed: 8, events: 3 };
  await createManifest(store, manifestKey, aManifest({ parts: [...parts], counts }));
});

const bytesAt = async (key: string): Promise<Buffer> => Buffer.from((await store.read(key))?.bytes ?? []);

/** The bytes of the stored file with one bit turned over. */
async function flip(key: string, at: number, bit: number): Promise<Buffer> {
  const bytes = await bytesAt(key);
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  return bytes;
}

describe("a snapshot", () => {
  it("verifies as it was written, and gives its manifest", async () => {
    const manifest = await verifySnapshot(accountStore(store, "uk"), ID);

    expect(manifest).toMatchObject({ snapshot_id: ID, parts: [{ rows: 2 }, { rows: 1 }] });
  });

  it.each<[string, string, () => Promise<Buffer | string>]>([
    ["a part that holds other rows", part(1), async () => gzipSync('{"uuid":"d"}\n')],
    ["a part without its last row", part(0), async () => gzipSync('{"uuid":"a"}\n')],
    ["a part with rows twice", part(1), async () => gzipSync('{"uuid":"c"}\n{"uuid":"c"}\n')],
    ["a part cut short", part(0), async () => (await bytesAt(part(0))).subarray(0, -9)],
    [
      "a part with something behind it",
      part(0),
      async () => Buffer.concat([await bytesAt(part(0)), gzipSync("x\n")]),
    ],
    ["an empty part", part(1), async () => ""],
    ["a manifest that is not JSON", manifestKey, async () => (await bytesAt(manifestKey)).subarray(0, 50)],
    [
      "a manifest of another snapshot",
      manifestKey,
      async () => (await bytesAt(manifestKey)).toString().replaceAll("06-00", "07-00"),
    ],
  ])("does not verify with %s, and says which file", async (_, key, damage) => {
    store.put(key, await damage());

    await expect(verifySnapshot(accountStore(store, "uk"), ID)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
  });

  it.each([part(1), manifestKey])("does not verify without %s", async (key) => {
    await store.delete(key);

    await expect(verifySnapshot(accountStore(store, "uk"), ID)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
  });

  it("does not verify with any bit of a part's data turned over, and verifies wherever readers see the same", async () => {
    const [before, wanted] = [await bytesAt(part(0)), gunzipSync(await bytesAt(part(0))).toString()];
    const seen: unknown[] = [];

    for (let bit = 0; bit < before.length * 8; bit += 1) {
      store.put(part(0), await flip(part(0), bit >> 3, bit & 7));
      const verifies = await verifySnapshot(accountStore(store, "uk"), ID).then(
        () => true,
        () => false,
      );
      const lines = await Array.fromAsync(
        readLines((await store.open(part(0))) ?? streamOf(), { what: part(0) }),
      ).catch(() => undefined);
      if (verifies !== (lines?.map((line) => `${line}\n`).join("") === wanted)) seen.push(bit);
      store.put(part(0), before);
    }

    expect(seen).toEqual([]);
  });

  it("is read no further once the work is stopped", async () => {
    const stop = new Error("stopped");
    const proceed = (): void => {
      throw stop;
    };

    await expect(verifyPart(store, part(0), { sha256: "", bytes: 0 }, { proceed })).rejects.toBe(stop);
  });
});
