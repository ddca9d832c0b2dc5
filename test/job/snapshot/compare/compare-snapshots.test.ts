import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import {
  compareSnapshots,
  readDigests,
  verifyDigests,
  writeDigests,
} from "../../../../lambdas/job/snapshot/compare/compare-snapshots.ts";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { jsonText } from "../../json/json-texts.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "../files/streams.ts";
import { AFTER, BEFORE, type Events, madeSnapshot, uuidOf } from "./made-snapshot.ts";

/** Remembers which files were opened. */
class OpenedStore extends MemoryStore {
  readonly opened: string[] = [];

  override async open(key: string): ReturnType<MemoryStore["open"]> {
    this.opened.push(key);
    return super.open(key);
  }
}

let store: OpenedStore;

beforeEach(() => {
  store = new OpenedStore();
});

const changesOf = (before: Manifest, after: Manifest) =>
  Array.fromAsync(compareSnapshots(accountStore(store, "uk"), before, after));

const OTHER = "2026-11-19T06-00-00.000Z";
const key = layout("uk").digests(BEFORE);

describe("two snapshots", () => {
  it("are compared by what differs, and the other parts are verified as they lie in the store", async () => {
    const before = await madeSnapshot(store, BEFORE, { 1: "1", 2: '{"a":1,"b":2}', 3: "3", 4: "4", 6: "6" });
    const after = await madeSnapshot(store, AFTER, { 1: "1", 2: '{"b":2,"a":1}', 3: "3.0", 5: "5", 6: "6" });
    store.opened.length = 0;

    const changes = await changesOf(before, after);

    expect(changes).toEqual([
      { uuid: uuidOf(3), change: "changed", fields: '[""]', before: "3", after: "3.0" },
      { uuid: uuidOf(4), change: "removed", fields: null, before: "4", after: null },
      { uuid: uuidOf(5), change: "added", fields: null, before: null, after: "5" },
    ]);
    const parts = [BEFORE, AFTER].flatMap((id) => [0, 1, 2, 3, 4].map((n) => layout("uk").part(id, n)));
    const openings = parts.map((part) => store.opened.filter((one) => one === part).length);
    expect(openings.slice(0, -1)).toEqual([1, 2, 2, 2, 1, 1, 2, 2, 2]);
  });

  it("have the same changes with and without digests, however their rows lie in parts", async () => {
    const text = fc.oneof(
      jsonText.map(({ tight }) => tight),
      fc.constantFrom('{"a":1,"b":"\u0085é"}', '{"b":"\u0085é","a":1}'),
    );
    const events = fc.dictionary(fc.integer({ min: 1, max: 12 }).map(String), text);
    await fc.assert(
      fc.asyncProperty(events, events, fc.integer({ min: 1, max: 600 }), async (old, current, maxBytes) => {
        store = new OpenedStore();
        const before = await madeSnapshot(store, BEFORE, sorted(old), maxBytes);
        const after = await madeSnapshot(store, AFTER, sorted(current), maxBytes);

        const changes = await changesOf(before, after);

        const { digests: _, ...without } = before;
        expect(changes).toEqual(await changesOf(without, after));
      }),
    );
  });

  it("are read where their rows lie in several chunks", async () => {
    const text = (n: number, version: number): string =>
      JSON.stringify(`${n} ${version} ${"é".repeat(40_000 + n * 7_000)}`);
    const numbers = Array.from({ length: 16 }, (_, n) => n + 1);
    const eventsIn = (version: (n: number) => number): Events =>
      Object.fromEntries(numbers.map((n) => [n, text(n, version(n))]));
    const before = await madeSnapshot(
      store,
      BEFORE,
      eventsIn(() => 1),
      100_000_000,
    );
    const after = await madeSnapshot(
      store,
      AFTER,
      eventsIn((n) => (n % 3 === 0 ? 2 : 1)),
      100_000_000,
    );

    const changes = await changesOf(before, after);

    expect(changes.map(({ uuid }) => uuid)).toEqual([3, 6, 9, 12, 15].map(uuidOf));
    expect(changes.every(({ before: old }, at) => old === text(3 * (at + 1), 1))).toBe(true);
    expect(changes.every(({ after: now }, at) => now === text(3 * (at + 1), 2))).toBe(true);
  });

  it("have every event added where there is nothing before", async () => {
    const after = await madeSnapshot(store, AFTER, { 1: "1", 2: "2" });

    const changes = await Array.fromAsync(compareSnapshots(accountStore(store, "uk"), undefined, after));

    expect(changes.map(({ change, after: text }) => [change, text])).toEqual([
      ["added", "1"],
      ["added", "2"],
    ]);
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

describe("the digests of a snapshot", () => {
  const EVENTS = { 1: "1", 2: "2", 3: "3" };

  it.each<[string, (bytes: Buffer) => Promise<unknown> | unknown]>([
    ["missing", () => store.delete(key)],
    ["short", (bytes) => store.put(key, bytes.subarray(0, -32))],
    ["empty", () => store.put(key, "")],
    ["longer", (bytes) => store.put(key, Buffer.concat([bytes, bytes]))],
    [
      "those of other events",
      (bytes) => store.put(key, Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)])),
    ],
  ])("are not used where they are %s, and do not verify", async (_, damage) => {
    const before = await madeSnapshot(store, BEFORE, EVENTS);
    const after = await madeSnapshot(store, AFTER, { ...EVENTS, 2: "7" });
    const expected = await changesOf(before, after);
    await verifyDigests(accountStore(store, "uk"), before);
    await damage(Buffer.from((await store.read(key))?.bytes ?? []));
    store.opened.length = 0;

    expect(await readDigests(accountStore(store, "uk"), before)).toBeUndefined();
    await expect(verifyDigests(accountStore(store, "uk"), before)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
    });
    expect(await changesOf(before, after)).toEqual(expected);
    expect(store.opened).toHaveLength(6);
  });

  it("are not used where they are not as many as the events", async () => {
    const before = await madeSnapshot(store, BEFORE, EVENTS);
    const counts = { ...before.counts, events: 4 };

    expect(await readDigests(accountStore(store, "uk"), before)).toHaveLength(96);
    expect(await readDigests(accountStore(store, "uk"), { ...before, counts })).toBeUndefined();
  });

  it("are named in no manifest where there are none, or the key is taken by others", async () => {
    store.put(key, "of another version");

    expect(await writeDigests(store, key, Buffer.alloc(32, 1))).toBeUndefined();
    expect(await writeDigests(store, "other", new Uint8Array())).toBeUndefined();
    expect(store.keys()).toEqual([key]);
    expect(await writeDigests(store, "other", Buffer.alloc(32, 1))).toEqual(
      await writeDigests(store, "other", Buffer.alloc(32, 1)),
    );
    await verifyDigests(accountStore(store, "uk"), { snapshot_id: BEFORE });
  });
});

function sorted(events: Readonly<Record<string, string>>): Events {
  return Object.fromEntries(Object.entries(events).map(([n, event]) => [Number(n), event]));
}
