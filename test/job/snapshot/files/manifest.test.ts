import { beforeEach, describe, expect, it } from "vitest";
import type { LeftOut } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import {
  createManifest,
  type Manifest,
  readLeftOut,
  readManifest,
  verifyLeftOut,
  writeLeftOut,
} from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { toldBy } from "../../../words/said.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";
import { aManifest, liftedManifest } from "./manifests.ts";

const ID = "2026-11-21T06-00-00.000Z";
const KEY = layout("uk").manifest(ID);
const MANIFEST = aManifest();

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

describe("a manifest", () => {
  it("is read back as it was created", async () => {
    const empty = new MemoryStore();

    expect(await createManifest(empty, KEY, MANIFEST)).toEqual(MANIFEST);
    expect(await readManifest(uk(empty), ID)).toEqual(MANIFEST);
  });

  it("that exists already is kept, if only its time and program differ", async () => {
    await createManifest(store, KEY, MANIFEST);

    const second = await createManifest(store, KEY, {
      ...MANIFEST,
      started_at: "2026-11-21T07:00:00.000Z",
      finished_at: "2026-11-21T07:00:09.000Z",
      program: { name: "brand-events-sync", version: "0.2.0" },
    });

    expect(second).toEqual(MANIFEST);
  });

  it("that exists already keeps the types of its columns, which no row depends on", async () => {
    const typed = (type: "DOUBLE" | "BIGINT"): Manifest => ({
      ...liftedManifest(["a"]),
      lifted: [{ name: "a", pointer: "/a", type, typed_by: ID }],
    });
    await createManifest(store, KEY, typed("DOUBLE"));

    expect(await createManifest(store, KEY, typed("BIGINT"))).toEqual(typed("DOUBLE"));
  });

  it("that exists already keeps what it says of its list: an earlier version says nothing", async () => {
    const doubted = aManifest({ doubt: { why: "unsaid", entries: 12, places: [] } });
    await createManifest(store, KEY, MANIFEST);

    expect(await createManifest(store, KEY, doubted)).toEqual(MANIFEST);
  });

  it("of a later version with a doubt of another kind is read, and doubted", async () => {
    const doubt = { why: "another", entries: 12, places: ["/x"], more: 1 };
    store.put(KEY, `${JSON.stringify({ ...MANIFEST, doubt })}\n`);

    const { doubt: read } = await readManifest(uk(store), ID);

    expect(read).toEqual({ why: "unsaid", entries: 12, places: ["/x"] });
  });

  it.each(["DATE); DROP VIEW events; --", "date", "DECIMAL(39,2)"])(
    "with the type %s is damaged: a type becomes part of SQL",
    async (type) => {
      const lifted = [{ name: "a", pointer: "/a", type, typed_by: ID }];
      store.put(KEY, `${JSON.stringify({ ...liftedManifest(["a"]), lifted })}\n`);

      await expect(readManifest(uk(store), ID)).rejects.toMatchObject({
        code: "STORE_CORRUPT",
      });
    },
  );

  it.each<[string, Partial<Manifest>]>([
    ["another plan", { plan_sha256: "d".repeat(64) }],
    ["other settings", { fingerprint: "f2" }],
    ["other counts", { counts: { ...MANIFEST.counts, repeated: 5 } }],
    ["other parts", { parts: MANIFEST.parts.map((part) => ({ ...part, sha256: "d".repeat(64) })) }],
    ["other columns", { columns: ["uuid", "a"] }],
    ["other fields", { fields: [{ pointer: "/uuid", count: 6, types: { string: 6 } }] }],
    ["fields that are not all", { fields_complete: false }],
    ["other pointers of lifted columns", { lifted: [{ name: "a", pointer: "/b" }] }],
  ])("that exists already with %s is refused by name", async (_, other) => {
    await createManifest(store, KEY, { ...liftedManifest(["a"]), ...other });

    await expect(createManifest(store, KEY, liftedManifest(["a"]))).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: KEY },
    });
  });

  it("that existed already and is gone is refused by name", async () => {
    store.create = async () => undefined;

    expect(await toldBy(createManifest(store, KEY, MANIFEST))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/it is missing\. Delete this file and start again\.$/),
    });
  });

  it.each<[string, Partial<Manifest>]>([
    ["parts without all events", { parts: MANIFEST.parts.slice(1) }],
    ["counts that do not add up to the listed", { counts: { ...MANIFEST.counts, gone: 2 } }],
    ["more oversize than rejected", { counts: { ...MANIFEST.counts, oversize: 4 } }],
    [
      "a part that points elsewhere",
      { parts: MANIFEST.parts.map((part) => ({ ...part, file: "../part-00000.ndjson.gz" })) },
    ],
    ["a column that is no name", { columns: ['uuid" --'] }],
    ["lifted columns that are not its last", { lifted: [{ name: "brand", pointer: "/brand" }] }],
    [
      "lifted columns in another order",
      { columns: ["uuid", "a", "b"], lifted: [...liftedManifest(["b", "a"]).lifted] },
    ],
    ["a field that nothing has", { fields: [{ pointer: "/x", count: 0, types: {} }] }],
    [
      "more than 2,000 fields",
      {
        fields: Array.from({ length: 2_001 }, (_, n) => ({
          pointer: `/${n}`,
          count: 1,
          types: { string: 1 },
        })),
      },
    ],
  ])("with %s is neither written nor read", async (_, wrong) => {
    await expect(createManifest(store, KEY, { ...MANIFEST, ...wrong })).rejects.toThrow();
    expect(store.keys()).toEqual([]);

    store.put(KEY, JSON.stringify({ ...MANIFEST, ...wrong }));
    await expect(readManifest(uk(store), ID)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: KEY },
    });
  });

  it.each<[string, string | undefined]>([
    ["missing", undefined],
    ["no JSON", '{"version":1'],
    ["another snapshot's", JSON.stringify({ ...MANIFEST, snapshot_id: "2026-11-20T06-00-00.000Z" })],
    ["another account's", JSON.stringify({ ...MANIFEST, account: "us" })],
  ])("that is %s is refused by name", async (_, text) => {
    if (text !== undefined) store.put(KEY, text);

    expect(await toldBy(readManifest(uk(store), ID))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/_manifest\.json is damaged.* Restore it from a backup/),
    });
  });

  it.each([
    ["that is read", () => readManifest(uk(store), ID)],
    ["that its run finds, which an earlier version resumes", () => createManifest(store, KEY, MANIFEST)],
  ])("of a later version %s is no damage: the program is to be upgraded", async (_, read) => {
    store.put(KEY, JSON.stringify({ version: 2 }));

    expect(await toldBy(read())).toMatchObject({
      code: "STORE_FAILED",
      message: `The file ${KEY} was written by a later version of this program. Upgrade this one, then start again.`,
    });
  });

  it("of an empty snapshot has no parts", async () => {
    const empty: Manifest = {
      ...MANIFEST,
      parts: [],
      counts: {
        listed: 0,
        events: 0,
        gone: 0,
        forbidden: 0,
        rejected: 0,
        oversize: 0,
        repeated: 0,
        too_deep: 0,
        unreadable: 0,
      },
    };

    expect(await createManifest(store, KEY, empty)).toEqual(empty);
  });
});

const LIST_KEY = "snapshots/uk/s/_left_out.ndjson";
const LEFT_OUT: readonly LeftOut[] = [
  { uuid: "a1", reason: "gone" },
  { uuid: "b2", reason: "forbidden" },
];
const TEXT = '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"forbidden"}\n';
/** Of these lines, taken with wc and sha256sum. */
const FILE = { bytes: 65, sha256: "a26c655c808d11e4cf0ef9be95a39190e386cb79ee3b9d40acff94f1d5ca71fc" };

describe("the list of what was left out", () => {
  it("is one line for each event", async () => {
    expect(await writeLeftOut(store, LIST_KEY, LEFT_OUT)).toEqual(FILE);
    expect(store.text(LIST_KEY)).toBe(TEXT);
  });

  it("is not written when nothing was left out", async () => {
    await writeLeftOut(store, LIST_KEY, []);

    expect(store.keys()).toEqual([]);
  });

  it("may be there already if it is the same", async () => {
    await writeLeftOut(store, LIST_KEY, LEFT_OUT);

    await expect(writeLeftOut(store, LIST_KEY, LEFT_OUT)).resolves.toEqual(FILE);
  });

  it.each([
    ["has other events", '{"uuid":"b2","reason":"forbidden"}\n'],
    ["is cut off", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"'],
  ])("is refused by name if one is there that %s", async (_, text) => {
    store.put(LIST_KEY, text);

    expect(await toldBy(writeLeftOut(store, LIST_KEY, LEFT_OUT))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/_left_out\.ndjson is damaged: .* Delete this file and start again\.$/),
    });
  });

  it("is refused by name if one was there and is gone", async () => {
    store.create = async () => undefined;

    await expect(writeLeftOut(store, LIST_KEY, LEFT_OUT)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("is read as it was written, and is empty where there is none", async () => {
    const leftOut = [...LEFT_OUT, { uuid: "é日", reason: "oversize" }] as const;
    await writeLeftOut(store, LIST_KEY, leftOut);

    expect(await readLeftOut(store, LIST_KEY)).toEqual(leftOut);
    expect(await readLeftOut(store, `${LIST_KEY}.other`)).toEqual([]);
  });

  it("is read with the reason other where a later version knows one more", async () => {
    store.put(LIST_KEY, '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"eclipsed"}\n');

    expect(await readLeftOut(store, LIST_KEY)).toEqual([
      { uuid: "a1", reason: "gone" },
      { uuid: "b2", reason: "other" },
    ]);
  });

  it.each([
    ["its last line has no end", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"'],
    ["it holds a line that is not a uuid with a reason", '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2"}\n'],
  ])("is not read if %s", async (problem, text) => {
    store.put(LIST_KEY, text);

    expect(await toldBy(readLeftOut(store, LIST_KEY))).toMatchObject({
      code: "STORE_CORRUPT",
      message: `The file ${LIST_KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});

describe("the list beside a manifest", () => {
  const COUNTS = { ...aManifest().counts, gone: 1, forbidden: 1, oversize: 0, too_deep: 0 };
  const OTHER = '{"uuid":"a1","reason":"gone"}\n{"uuid":"b2","reason":"gone"}\n';

  /** @param text undefined where there is no file */
  async function verify(text: string | undefined, manifest: Partial<Manifest>): Promise<void> {
    if (text !== undefined) store.put(LIST_KEY, text);
    await verifyLeftOut(uk(store), { snapshot_id: "s", counts: COUNTS, ...manifest });
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
    expect(await toldBy(verify(text, manifest))).toMatchObject({
      code: "STORE_CORRUPT",
      message: `The file ${LIST_KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});
