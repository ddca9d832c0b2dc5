import { hash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { type Content, readLines } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { createManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { verifyFile, verifyPart, writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import {
  checkFolders,
  checkForeign,
  checkListed,
  verifyChanges,
  verifySnapshot,
} from "../../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication.ts";
import { toldBy } from "../../../words/said.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication, uk } from "../../storage/publications.ts";
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
    const manifest = await verifySnapshot(uk(store), ID);

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

    await expect(verifySnapshot(uk(store), ID)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
  });

  it.each([part(1), manifestKey])("does not verify without %s", async (key) => {
    await store.delete([key]);

    await expect(verifySnapshot(uk(store), ID)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
  });

  it("does not verify with any bit of a part's data turned over, and verifies wherever readers see the same", async () => {
    const [before, wanted] = [await bytesAt(part(0)), gunzipSync(await bytesAt(part(0))).toString()];
    const seen: unknown[] = [];

    for (let bit = 0; bit < before.length * 8; bit += 1) {
      store.put(part(0), await flip(part(0), bit >> 3, bit & 7));
      const verifies = await verifySnapshot(uk(store), ID).then(
        () => true,
        () => false,
      );
      const lines = await Array.fromAsync(
        readLines((await store.open(part(0))) ?? streamOf(), part(0)),
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

describe("a part's file", () => {
  const TEXT = '{"uuid":"c"}\n';
  const ROWS = { sha256: hash("sha256", TEXT, "hex"), bytes: 13 };
  const OTHER = { sha256: hash("sha256", "other rows\n", "hex"), bytes: 13 };
  const WRITTEN = gzipSync(TEXT);
  const stored: Content = { bytes: WRITTEN.length, sha256: hash("sha256", WRITTEN, "hex") };

  /** How often the file, as it is said to have been written, is opened until it verifies. */
  async function opened(rows: typeof ROWS): Promise<number> {
    let times = 0;
    const open = async (key: string): Promise<AsyncIterable<Uint8Array> | undefined> => {
      times += 1;
      return await store.open(key);
    };
    await verifyFile({ ...uk(store), open }, part(1), { ...rows, stored }, () => undefined);
    return times;
  }

  it("verifies without its rows where it is the one that was written", async () => {
    store.put(part(1), WRITTEN);

    expect(await opened(OTHER)).toBe(1);
  });

  it("verifies by its rows where it was compressed again", async () => {
    store.put(part(1), gzipSync(TEXT, { level: 0 }));

    expect(await opened(ROWS)).toBe(2);
    for (const others of [OTHER, { ...ROWS, bytes: 12 }])
      await expect(opened(others)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("is read no further once the work is stopped, where it is the one that was written", async () => {
    store.put(part(1), WRITTEN);
    const stop = new Error("stopped");
    const proceed = (): void => {
      throw stop;
    };

    await expect(verifyFile(store, part(1), { ...ROWS, stored }, proceed)).rejects.toBe(stop);
  });
});

describe("the changes of a publication", () => {
  const PUBLICATION = aPublication({ snapshot_id: ID, added: 1, changed: 2, removed: 3 });
  const FOLDER = layout("uk").changes(PUBLICATION.publication, ID);
  const changesPart = (index: number): string => layout("uk").changesPart(PUBLICATION.publication, ID, index);
  const lines = (change: string, count: number): string => `{"change":"${change}"}\n`.repeat(count);
  const verify = (over: Partial<Publication> = {}, proceed = (): void => undefined): Promise<void> =>
    verifyChanges(uk(store), { ...PUBLICATION, ...over }, proceed);

  beforeEach(() => {
    store.put(changesPart(0), gzipSync(lines("added", 1) + lines("changed", 1)));
    store.put(changesPart(1), gzipSync(lines("changed", 1) + lines("removed", 3)));
  });

  it("verify whatever else lies beside them", async () => {
    store.put(`${FOLDER}part-00000 (1).ndjson.gz`, "x");
    store.put(`${FOLDER}_lost.json`, "{}"); // of an earlier version

    await expect(verify()).resolves.toBeUndefined();
  });

  it.each([{ added: 2 }, { changed: 1 }, { removed: 2 }])(
    "do not verify where the publication says %o",
    async (over) => {
      await expect(verify(over)).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { key: FOLDER } });
    },
  );

  it("do not verify with a line that is not a change, and say which file", async () => {
    store.put(changesPart(2), gzipSync(lines("other", 1)));

    await expect(verify()).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { key: changesPart(2) } });
  });

  it("do not verify where a file is gone by the time it is read, and say which", async () => {
    const open = store.open.bind(store);
    store.open = async (key) => (key === changesPart(1) ? undefined : await open(key));

    await expect(verify()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: changesPart(1) },
      message: expect.stringContaining("it was listed but no longer exists"),
    });
  });

  it("are read no further once the work is stopped", async () => {
    const stop = new Error("stopped");
    const proceed = (): void => {
      throw stop;
    };

    await expect(verify({}, proceed)).rejects.toBe(stop);
  });
});

describe("the folder of a snapshot", () => {
  const STORED = [{ bytes: 3, sha256: "" }];
  const LISTED = {
    snapshot_id: ID,
    parts: [{ file: "part-00000.ndjson.gz", rows: 1, bytes: 9, sha256: "" }],
  };
  const FOLDER = layout("uk").snapshot(ID);
  const beside = (file: string): string => `${FOLDER}${file}`;
  const listed = (stored?: readonly Content[]): Promise<void> =>
    checkListed(uk(store), FOLDER, { parts: LISTED.parts, ...(stored && { stored }) });

  beforeEach(() => {
    store = new MemoryStore();
    store.put(part(0), "abc");
  });

  it("may have files that no reader of it reads", async () => {
    for (const file of ["_manifest.json", ".DS_Store"]) store.put(beside(file), "");

    await expect(checkForeign(uk(store), LISTED)).resolves.toBeUndefined();
    await expect(listed(STORED)).resolves.toBeUndefined();
  });

  it.each(["part-00001.ndjson.gz", "part-00000 (1).ndjson.gz"])(
    "may not have %s, which readers would take for a part",
    async (file) => {
      store.put(beside(file), "");
      const foreign = {
        code: "STORE_CORRUPT",
        fields: { key: beside(file) },
        message: expect.stringContaining("readers take it for a part, but"),
      };

      await expect(checkForeign(uk(store), LISTED)).rejects.toMatchObject(foreign);
      await expect(listed()).rejects.toMatchObject(foreign);
    },
  );

  it("has each part before it is published, with its size where the manifest has one", async () => {
    await expect(listed()).resolves.toBeUndefined();
    await expect(listed([{ bytes: 4, sha256: "" }])).rejects.toMatchObject({
      fields: { key: part(0) },
      message: expect.stringContaining("it has 3 bytes, and was written with 4"),
    });
    await store.delete([part(0)]);
    await expect(listed()).rejects.toMatchObject({
      fields: { key: part(0) },
      message: expect.stringContaining("it is missing"),
    });
  });

  it("is not one of a retired snapshot when it is published", async () => {
    store.put(layout("uk").retired(ID), "{}");

    expect(await toldBy(listed())).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: `The snapshot ${ID} is retired: its files are deleted, or will be within a day. Start a new run.`,
      fields: { snapshot_id: ID },
    });
  });
});

describe("a folder of the account that Athena reads whole", () => {
  it("may have files of the warehouse, and those that Athena does not read", async () => {
    store.put(`snapshots/uk/${ID}/_notes`, "");
    store.put(`run-log/uk/.hidden`, "");

    await expect(checkFolders(uk(store))).resolves.toBeUndefined();
  });

  it.each([
    `snapshots/uk/${ID}/part-00000 (1).ndjson.gz`,
    "changes/uk/0000000001/x/part-00000.ndjson.gz.bak",
    "publications/uk/0000000001 (1).ndjson",
    "run-log/uk/a copy (1).json",
  ])("may not have %s", async (key) => {
    store.put(key, "");

    await expect(checkFolders(uk(store))).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
  });
});
