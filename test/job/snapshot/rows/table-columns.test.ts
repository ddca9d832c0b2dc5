// `columns.json`, and what stands in for it: the manifests of the heads.

import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import {
  createColumns,
  readColumns,
  recordColumns,
} from "../../../../lambdas/job/snapshot/rows/table-columns.ts";
import { COLUMNS_FILE, layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { toldBy } from "../../../words/said.ts";
import { interposed } from "../../run/interposed-store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication } from "../../storage/publications.ts";
import { aManifest, liftedManifest } from "../files/manifests.ts";

const [FIRST, SECOND] = ["2026-01-05T06-00-05.000Z", "2026-01-06T06-00-05.000Z"];

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

/** A publication of a snapshot that has these columns. */
function head(account: string, id: string, lifted: Manifest["lifted"], publication = "0000000001"): void {
  const { columns, ...manifest } = liftedManifest(
    lifted.map(({ name }) => name),
    { account, snapshot_id: id, run_id: id },
  );
  store.put(layout(account).manifest(id), JSON.stringify({ ...manifest, columns, lifted }));
  const entry = aPublication({ publication, snapshot_id: id, run_id: id });
  store.put(layout(account).publication(publication), `${JSON.stringify(entry)}\n`);
}

const fileOf = (...columns: readonly object[]): string => JSON.stringify({ version: 1, columns });

const NOTE = { name: "note", pointers: { uk: "/note" }, since: FIRST };

describe("the columns of the tables", () => {
  it("are those of the file, whatever else is damaged", async () => {
    store.put(COLUMNS_FILE, fileOf(NOTE));
    store.put(layout("de").publication("0000000001"), "damaged\n");

    expect(await readColumns(store)).toEqual([NOTE]);
  });

  it("are those of all heads where there is no file, in the order of the longest list", async () => {
    head("de", FIRST, [{ name: "a", pointer: "/a" }]);
    head("uk", SECOND, [
      { name: "b", pointer: "/b" },
      { name: "a", pointer: "/other" },
    ]);

    expect(await readColumns(store)).toEqual([
      { name: "b", pointers: { uk: "/b" }, since: SECOND },
      { name: "a", pointers: { uk: "/other", de: "/a" }, since: SECOND },
    ]);
  });

  it("are none in an empty warehouse", async () => {
    expect(await readColumns(store)).toEqual([]);
  });

  it("are those of the newest snapshot whose manifest can be read", async () => {
    head("uk", FIRST, [{ name: "a", pointer: "/a" }]);
    head("uk", SECOND, [], "0000000002");
    store.put(layout("uk").manifest(SECOND), "{");

    expect(await readColumns(store)).toEqual([{ name: "a", pointers: { uk: "/a" }, since: FIRST }]);
  });

  it("are none of an account without a manifest that can be read", async () => {
    head("uk", FIRST, [{ name: "a", pointer: "/a" }]);
    store.put(layout("uk").manifest(FIRST), "{");

    expect(await readColumns(store)).toEqual([]);
  });

  it("are not known where the store fails", async () => {
    head("uk", FIRST, []);
    const failure = new SyncError("STORE_FAILED", "The disk does not answer.");
    const read = store.read.bind(store);
    store.read = (key) => (key === layout("uk").manifest(FIRST) ? Promise.reject(failure) : read(key));

    await expect(readColumns(store)).rejects.toBe(failure);
  });

  it.each([
    ["no JSON", "{"],
    ["another version", '{"version":2,"columns":[]}'],
    ["a column that is no name", fileOf({ ...NOTE, name: "a b" })],
    ["no pointer", fileOf({ ...NOTE, pointers: { uk: "note" } })],
    ["a name twice", fileOf(NOTE, NOTE)],
    ["the name of a column that every row has", fileOf({ ...NOTE, name: "uuid" })],
  ])("are not those of a file with %s, which may be deleted", async (_, text) => {
    store.put(COLUMNS_FILE, text);

    expect(await toldBy(readColumns(store))).toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: COLUMNS_FILE },
      message: expect.stringMatching(
        /columns\.json is damaged: .* Or delete it: the next publication makes it again from the manifests\.$/,
      ),
    });
  });
});

it("the mark of a new warehouse is there once it is made, and leaves alone what was there", async () => {
  const slow: Store = {
    ...interposed(store),
    create: async (key, body) => {
      await setImmediate();
      return store.create(key, body);
    },
  };
  await createColumns(slow);
  const made = store.text(COLUMNS_FILE);
  store.put(COLUMNS_FILE, fileOf(NOTE));

  await createColumns(slow);

  expect(made).toBe('{"version":1,"columns":[]}\n');
  expect(await readColumns(store)).toEqual([NOTE]);
});

describe("a publication", () => {
  const record = async (manifest: Manifest, check = async (): Promise<void> => undefined): Promise<void> =>
    recordColumns(store, manifest, check);
  const recorded = (): unknown => JSON.parse(store.text(COLUMNS_FILE) ?? "null")?.columns;

  /** Of one column, named by a run at the instant. */
  const typed = (type: "BIGINT" | "DATE", typed_by?: string): Manifest => ({
    ...liftedManifest(["note"], { snapshot_id: SECOND }),
    lifted: [{ name: "note", pointer: "/note", type, ...(typed_by && { typed_by }) }],
  });

  it("makes the file, also where it brings no column", async () => {
    await record(aManifest());

    expect(store.text(COLUMNS_FILE)).toBe('{"version":1,"columns":[]}\n');
  });

  it("adds its columns, and leaves the file alone where it has them", async () => {
    store.put(COLUMNS_FILE, fileOf(NOTE));
    await record(liftedManifest(["note", "n"], { snapshot_id: SECOND }));

    expect(recorded()).toEqual([NOTE, { name: "n", pointers: { uk: "/n" }, since: SECOND }]);

    const replace = async (): Promise<never> => Promise.reject(new Error("written again"));
    store.replace = replace;
    await expect(record(liftedManifest(["note", "n"], { snapshot_id: SECOND }))).resolves.toBeUndefined();
  });

  it.each([
    ["of a later run is taken", "2026-01-06", "2026-01-07", "DATE"],
    ["of an earlier run is not taken", "2026-01-06", "2026-01-05", "BIGINT"],
    ["of the same run is not taken", "2026-01-06", "2026-01-06", "BIGINT"],
    ["of no known run is not taken", "2026-01-06", undefined, "BIGINT"],
    ["of a run is taken where that of the file has none", undefined, "2026-01-05", "DATE"],
    ["of no known run stays beside another one", undefined, undefined, "BIGINT"],
  ])("names a type: that %s", async (_, before, after, type) => {
    store.put(COLUMNS_FILE, fileOf({ ...NOTE, type: "BIGINT", ...(before && { typed_by: before }) }));

    await record(typed("DATE", after));

    expect(recorded()).toMatchObject([{ name: "note", type }]);
  });

  it("gives a type to a column that has none, and takes none away", async () => {
    store.put(COLUMNS_FILE, fileOf(NOTE));
    await record(typed("BIGINT"));
    await record(liftedManifest(["note"]));

    expect(recorded()).toMatchObject([{ name: "note", type: "BIGINT" }]);
  });

  it("is refused by what looks at the columns that are there, before anything is written", async () => {
    store.put(COLUMNS_FILE, fileOf(NOTE));
    const refusal = new SyncError("CONFIG_INVALID", "This does not fit.");

    await expect(record(liftedManifest(["n"]), () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(recorded()).toEqual([NOTE]);
  });

  it.each(["create", "replace"] as const)(
    "looks at them again where another process was first to %s",
    async (how) => {
      if (how === "replace") store.put(COLUMNS_FILE, fileOf());
      const { create, replace } = store;
      const isBeaten = async (): Promise<undefined> => {
        Object.assign(store, { create, replace });
        store.put(COLUMNS_FILE, fileOf(NOTE));
        return undefined;
      };
      Object.assign(store, { [how]: isBeaten });
      const seen: unknown[] = [];

      await recordColumns(store, liftedManifest(["n"], { snapshot_id: SECOND }), async (there) => {
        seen.push(there.map(({ name }) => name));
      });

      expect(seen).toEqual([[], ["note"]]);
      expect(recorded()).toMatchObject([{ name: "note" }, { name: "n" }]);
    },
  );
});
