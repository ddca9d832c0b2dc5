// Which snapshots and which publications' changes lack a file.

import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { createManifest, readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import {
  describeUnit,
  folderOf,
  foreignChanges,
  hasPublishedFiles,
  incompleteUnits,
  listChanges,
  partSizes,
  type Unit,
} from "../../../../lambdas/job/snapshot/files/units.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication.ts";
import { createRemoval, publish, readLog } from "../../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots, markRetired } from "../../../../lambdas/job/storage/snapshot-marks.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication, uk } from "../../storage/publications.ts";
import { aManifest } from "./manifests.ts";
import { streamOf } from "./streams.ts";

const [ONE, TWO] = ["2026-11-21T06-00-00.000Z", "2026-11-22T06-00-00.000Z"];
const [FIRST, SECOND] = ["0000000001", "0000000002"];

let store: MemoryStore;
let opened: string[];

/** Two publications: each of a snapshot of three parts, and with three parts of changes. */
beforeEach(async () => {
  store = new MemoryStore();
  opened = [];
  for (const [publication, id] of [
    [FIRST, ONE],
    [SECOND, TWO],
  ] as const) {
    const lines = (): AsyncGenerator<string> => streamOf('{"uuid":"a"}', '{"uuid":"b"}', '{"uuid":"c"}');
    const written = await writeParts({
      store,
      key: (i) => layout("uk").part(id, i),
      lines: lines(),
      maxBytes: 15,
    });
    await writeParts({
      store,
      key: (i) => layout("uk").changesPart(publication, id, i),
      lines: lines(),
      maxBytes: 15,
    });
    const parts = written.map(({ stored: _, ...part }) => part);
    const stored = written.map((part) => part.stored);
    const counts = { ...aManifest().counts, listed: 8, events: 3 };
    const manifest = aManifest({ snapshot_id: id, run_id: id, parts, stored, counts });
    await createManifest(store, layout("uk").manifest(id), manifest);
    await publish(uk(store), aPublication({ publication, snapshot_id: id, run_id: id }));
  }
});

/** Makes the snapshot's manifest one of an earlier version. */
async function forgetStored(id: string): Promise<void> {
  const { stored: _, ...manifest } = await readManifest(uk(store), id);
  store.put(layout("uk").manifest(id), JSON.stringify(manifest));
}

/** Makes the publication one that says how many files it has. */
async function say(publication: string, files: NonNullable<Publication["files"]>): Promise<void> {
  const key = layout("uk").publication(publication);
  const { bytes } = (await store.read(key)) ?? {};
  store.put(key, `${JSON.stringify({ ...JSON.parse(Buffer.from(bytes ?? []).toString()), files })}\n`);
}

/** Of the snapshots as they lie there. */
async function sizes(): Promise<Readonly<Record<string, readonly number[]>>> {
  const snapshots = await listSnapshots(uk(store));
  return Object.fromEntries(snapshots.map(({ snapshotId, files }) => [snapshotId, partSizes(files)]));
}

/** Of each unit its publication, what it holds, and the file. */
async function incomplete(whole?: Readonly<Record<string, readonly number[]>>): Promise<readonly unknown[]> {
  const log = await readLog(uk(store));
  const open = store.open.bind(store);
  store.open = (key) => {
    opened.push(key);
    return open(key);
  };
  const units = await incompleteUnits(uk(store), log, await listSnapshots(uk(store)), whole);
  return units.map(({ holds, publication, damage }) => [
    holds,
    publication.publication,
    damage.fields["key"],
  ]);
}

it("is complete as it was written, which no part is read for", async () => {
  expect(await incomplete()).toEqual([]);
  expect(opened).toEqual([]);
});

it("is complete without its manifest being read where its parts have the sizes that they had", async () => {
  const whole = await sizes();
  store.put(layout("uk").manifest(ONE), "{");

  const { bytes = "" } = (await store.read(layout("uk").part(ONE, 0))) ?? {};
  expect(Object.values(whole)).toEqual([Array(3).fill(bytes.length), Array(3).fill(bytes.length)]);
  expect(await incomplete(whole)).toEqual([]);
});

it("of an earlier version, which says nothing of its files, is complete where all of them are there", async () => {
  await forgetStored(ONE);

  expect(await incomplete()).toEqual([]);
});

it("passes an error of the store through unchanged", async () => {
  const failure = new SyncError("STORE_FAILED", "The disk does not answer.");
  const read = store.read.bind(store);
  store.read = (key) => (key === layout("uk").manifest(TWO) ? Promise.reject(failure) : read(key));

  await expect(incomplete()).rejects.toBe(failure);
});

it("lists of the changes those behind a number alone, where one is given", async () => {
  const own = uk(store);
  const log = await readLog(own);
  const listed: string[] = [];
  const list = store.list.bind(store);
  store.list = async function* (prefix, after) {
    for await (const file of list(prefix, after)) {
      listed.push(file.key);
      yield file;
    }
  };

  await incompleteUnits(uk(store), log.slice(1), [], {}, FIRST);

  expect(listed).toEqual([0, 1, 2].map((index) => layout("uk").changesPart(SECOND, TWO, index)));
});

describe("a snapshot is incomplete", () => {
  it.each([
    layout("uk").part(ONE, 0),
    layout("uk").part(ONE, 1),
    layout("uk").part(ONE, 2),
    layout("uk").manifest(ONE),
  ])("without %s", async (key) => {
    await store.delete([key]);

    expect(await incomplete()).toEqual([["snapshot", FIRST, key]]);
  });

  it("without its manifest, though its parts have the sizes that they had", async () => {
    const whole = await sizes();
    await store.delete([layout("uk").manifest(ONE)]);

    expect(await incomplete(whole)).toEqual([["snapshot", FIRST, layout("uk").manifest(ONE)]]);
  });

  it("without a part where it is of an earlier version, which says nothing of its files", async () => {
    await forgetStored(ONE);
    await store.delete([layout("uk").part(ONE, 1)]);

    expect(await incomplete()).toEqual([["snapshot", FIRST, layout("uk").part(ONE, 1)]]);
  });

  it("where a part is cut, and where its manifest cannot be read", async () => {
    const [part, manifest] = [layout("uk").part(ONE, 1), layout("uk").manifest(TWO)];
    store.put(part, "cut");
    store.put(manifest, "{");

    expect(await incomplete()).toEqual([
      ["snapshot", FIRST, part],
      ["snapshot", SECOND, manifest],
    ]);
  });

  it("where its manifest names fewer parts than were published", async () => {
    await say(FIRST, { snapshot: 3, changes: 3 });
    await say(SECOND, { snapshot: 4, changes: 3 });

    expect(await incomplete()).toEqual([["snapshot", SECOND, layout("uk").manifest(TWO)]]);
  });

  it("where nothing of it is left, and once however often it is published", async () => {
    for (const { key } of await Array.fromAsync(store.list(layout("uk").snapshot(ONE))))
      await store.delete([key]);
    const again = aPublication({ publication: "0000000003", snapshot_id: ONE, added: 0 });
    await publish(uk(store), again);

    expect(await incomplete()).toEqual([["snapshot", "0000000003", layout("uk").manifest(ONE)]]);
  });
});

it("does not miss what is retired, but for the head", async () => {
  for (const id of [ONE, TWO]) {
    await markRetired(uk(store), id);
    await store.delete([layout("uk").part(id, 0)]);
  }

  expect(await incomplete()).toEqual([["snapshot", SECOND, layout("uk").part(TWO, 0)]]);
});

describe("changes are incomplete", () => {
  it.each([0, 1])("with a gap at part %d", async (index) => {
    const key = layout("uk").changesPart(FIRST, ONE, index);
    await store.delete([key]);

    expect(await incomplete()).toEqual([["changes", FIRST, key]]);
  });

  it("without their last part, as the publication says; of an earlier version that is not known", async () => {
    await say(SECOND, { snapshot: 3, changes: 3 });
    for (const [publication, id] of [
      [FIRST, ONE],
      [SECOND, TWO],
    ] as const)
      await store.delete([layout("uk").changesPart(publication, id, 2)]);

    expect(await incomplete()).toEqual([["changes", SECOND, layout("uk").changesPart(SECOND, TWO, 2)]]);
  });

  it("without any file of theirs, whatever else lies there", async () => {
    for (const index of [0, 1, 2]) await store.delete([layout("uk").changesPart(FIRST, ONE, index)]);
    store.put(`${layout("uk").changes(FIRST, ONE)}part-00000 (1).ndjson.gz`, "x");
    store.put(`${layout("uk").changes(FIRST, ONE)}_lost.json`, "{}"); // of an earlier version
    store.put(layout("uk").changesPart(FIRST, TWO, 0), "of a run that lost the number");

    expect(await incomplete()).toEqual([["changes", FIRST, layout("uk").changesPart(FIRST, ONE, 0)]]);
  });
});

it("has no file where the log counts none", async () => {
  const empty = { publication: "0000000003", events: 0, added: 0 };
  await publish(uk(store), aPublication({ ...empty, snapshot_id: ONE }));

  expect(await incomplete()).toEqual([]);
});

it("says of all changes that have files whether they are whole, published or not", async () => {
  await store.delete([layout("uk").changesPart(FIRST, ONE, 1)]);
  store.put(layout("uk").changesPart(SECOND, ONE, 0), "of a run that lost the number");

  expect(await listChanges(uk(store))).toEqual([
    { publication: FIRST, snapshotId: ONE, isWhole: false },
    { publication: SECOND, snapshotId: ONE, isWhole: true },
    { publication: SECOND, snapshotId: TWO, isWhole: true },
  ]);
});

it.each<[Unit["holds"], string, string]>([
  ["snapshot", layout("uk").snapshot(ONE), `the snapshot ${ONE} of the account uk`],
  ["changes", layout("uk").changes(FIRST, ONE), "the changes of publication 0000000001 of the account uk"],
])("a unit that holds %s has a folder and a description", (holds, folder, description) => {
  const unit: Unit = {
    account: "uk",
    holds,
    publication: aPublication({ publication: FIRST, snapshot_id: ONE }),
  };

  expect(folderOf(unit)).toBe(folder);
  expect(describeUnit(unit)).toBe(description);
});

describe("the files of a warehouse", () => {
  const KEYS = layout("uk");
  const without = async (...prefixes: readonly string[]): Promise<void> => {
    for (const prefix of prefixes) await store.delete(store.keys(prefix));
  };
  const retire = (id: string): void =>
    store.put(KEYS.retired(id), JSON.stringify({ retired_at: "2026-11-23T06:00:00.000Z" }));

  it.each<readonly [boolean, string, () => unknown]>([
    [true, "all are there", () => undefined],
    [true, "only the head's are", () => without(KEYS.snapshot(ONE))],
    [true, "only older ones are", () => without(KEYS.snapshot(TWO))],
    [false, "none are", () => without(KEYS.snapshots)],
    [
      false,
      "the head has its mark alone",
      async () => {
        await without(KEYS.snapshots);
        retire(TWO);
      },
    ],
    [
      true,
      "nothing is published",
      async () => {
        await without("publications/");
        await without(KEYS.snapshots);
      },
    ],
    [
      false,
      "only a retired snapshot has some",
      async () => {
        await without(KEYS.snapshot(TWO));
        retire(ONE);
      },
    ],
    [
      true,
      "the log is damaged",
      async () => {
        await without(KEYS.snapshots);
        for (const key of store.keys("publications/")) store.put(key, "damaged");
      },
    ],
    [
      true,
      "an account was removed, and another one has some",
      async () => {
        await createRemoval(accountStore(store, "de"), {
          ...{ runId: TWO, atMs: Date.UTC(2026, 10, 22, 6), writeId: "removal" },
        });
      },
    ],
    [
      true,
      "another account has some",
      async () => {
        await without(KEYS.snapshots);
        await publish(accountStore(store, "us"), aPublication({ snapshot_id: ONE, run_id: ONE }));
        store.put(layout("us").part(ONE, 0), "");
      },
    ],
  ])("are there: %s, where %s", async (expected, _, change) => {
    await change();

    expect(await hasPublishedFiles(store)).toBe(expected);
  });
});

it("changes that start from a snapshot which the log does not have are foreign", () => {
  const log = [
    aPublication({ publication: FIRST, snapshot_id: ONE, base_snapshot_id: null }),
    aPublication({ publication: SECOND, snapshot_id: TWO, base_snapshot_id: ONE }),
    aPublication({
      publication: "0000000003",
      snapshot_id: ONE,
      base_snapshot_id: "2026-01-01T00-00-00.000Z",
    }),
  ];

  expect(foreignChanges("uk", log)).toMatchObject([
    { account: "uk", holds: "changes", publication: { publication: "0000000003" } },
  ]);
});
