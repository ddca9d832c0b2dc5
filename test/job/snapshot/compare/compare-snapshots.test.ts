import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { type Change, compareSnapshots } from "../../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { jsonText } from "../../json/json-texts.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "../files/streams.ts";
import { AFTER, BEFORE, type Events, madeSnapshot, uuidOf } from "./made-snapshot.ts";

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

const changesOf = (before: Manifest, after: Manifest) =>
  Array.fromAsync(compareSnapshots(accountStore(store, "uk"), before, after));

const OTHER = "2026-11-19T06-00-00.000Z";

describe("two snapshots", () => {
  it("have the changes of their events as values", async () => {
    const before = await madeSnapshot(store, BEFORE, { 1: "1", 2: '{"a":1,"b":2}', 3: "3", 4: "4", 6: "6" });
    const after = await madeSnapshot(store, AFTER, { 1: "1", 2: '{"b":2,"a":1}', 3: "3.0", 5: "5", 6: "6" });

    expect(await changesOf(before, after)).toEqual([
      { uuid: uuidOf(3), change: "changed", fields: '[""]', before: "3", after: "3.0" },
      { uuid: uuidOf(4), change: "removed", fields: null, before: "4", after: null },
      { uuid: uuidOf(5), change: "added", fields: null, before: null, after: "5" },
    ]);
  });

  it("have the same changes however their rows lie in parts", async () => {
    const events = fc.dictionary(
      fc.integer({ min: 1, max: 12 }).map(String),
      jsonText.map(({ tight }) => tight),
    );
    await fc.assert(
      fc.asyncProperty(events, events, fc.integer({ min: 1, max: 600 }), async (old, current, maxBytes) => {
        const changesIn = async (bytes: number): Promise<readonly Change[]> => {
          store = new MemoryStore();
          const before = await madeSnapshot(store, BEFORE, sorted(old), bytes);
          return changesOf(before, await madeSnapshot(store, AFTER, sorted(current), bytes));
        };

        expect(await changesIn(maxBytes)).toEqual(await changesIn(1_000_000));
      }),
    );
  });

  it("are not compared any further once the work is stopped", async () => {
    const before = await madeSnapshot(store, BEFORE, { 1: "1" });
    const after = await madeSnapshot(store, AFTER, { 1: "1" });
    const stop = new Error("stopped");
    const proceed = (): void => {
      throw stop;
    };

    await expect(
      Array.fromAsync(compareSnapshots(accountStore(store, "uk"), before, after, proceed)),
    ).rejects.toBe(stop);
  });

  it("are not compared where a part that is read is missing or damaged", async () => {
    const before = await madeSnapshot(store, BEFORE, { 1: "1", 2: "2", 3: "3" }, 1_000);
    const after = await madeSnapshot(store, AFTER, { 1: "0", 2: "0", 3: "3" }, 1_000);
    const part = layout("uk").part(BEFORE, 0);
    const damaged = { code: "STORE_CORRUPT", fields: { key: part } };
    for (const other of [{ 1: "9", 2: "2", 3: "3" }, { 2: "1" }, { 1: "9" }]) {
      await madeSnapshot(store, OTHER, other, 1_000);
      store.put(part, (await store.read(layout("uk").part(OTHER, 0)))?.bytes ?? "");
      await expect(changesOf(before, after)).rejects.toMatchObject(damaged);
      await store.delete(layout("uk").part(OTHER, 0));
    }
    store.put(part, "no gzip");
    await expect(changesOf(before, after)).rejects.toMatchObject(damaged);
    await store.delete(part);
    await expect(changesOf(before, after)).rejects.toMatchObject(damaged);
  });
});

describe("a snapshot that is compared with nothing", () => {
  const added = (made: Manifest, proceed?: () => void) =>
    Array.fromAsync(compareSnapshots(accountStore(store, "uk"), undefined, made, proceed));

  it("has only events that are added, as they were sent", async () => {
    const made = await madeSnapshot(store, AFTER, { 1: "{}", 2: "[2.0]" }, 1_000);

    expect(await added(made)).toEqual([
      { uuid: uuidOf(1), change: "added", fields: null, before: null, after: "{}" },
      { uuid: uuidOf(2), change: "added", fields: null, before: null, after: "[2.0]" },
    ]);
  });

  it("is refused where its rows are not sorted", async () => {
    const made = await madeSnapshot(store, AFTER, { 1: "{}" });
    const row = (uuid: string): string =>
      rowLine({ uuid, event_date: null, scope: null, event: "{}", listing: "{}" });
    await store.delete(layout("uk").part(AFTER, 0));
    const parts = await writeParts({
      store,
      key: (index) => layout("uk").part(AFTER, index),
      lines: streamOf(row("b"), row("a")),
    });

    await expect(added({ ...made, parts })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { uuid: "a" },
    });
  });

  it("is read no further where the caller stops", async () => {
    const made = await madeSnapshot(store, AFTER, { 1: "{}", 2: "{}" }, 1_000);
    const stop = new Error("stop");
    let rows = 0;
    const proceed = (): void => {
      rows += 1;
      if (rows === 2) throw stop;
    };

    await expect(added(made, proceed)).rejects.toBe(stop);
  });
});

function sorted(events: Readonly<Record<string, string>>): Events {
  return Object.fromEntries(Object.entries(events).map(([n, event]) => [Number(n), event]));
}
