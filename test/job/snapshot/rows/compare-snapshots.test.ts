import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { lineBytes } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import {
  type Change,
  changeLine,
  compareSnapshots,
  damageOf,
  diffRows,
} from "../../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { MAX_ROW_BYTES, type Row, rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout, TABLES } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { type JsonText, jsonText } from "../../json/json-texts.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";
import { aManifest } from "../files/manifests.ts";
import { streamOf } from "../files/streams.ts";
import { aRow } from "./a-row.ts";

const BEFORE = "2026-11-20T06-00-00.000Z";
const AFTER = "2026-11-21T06-00-00.000Z";

/** The text of an event by its number, which also is the order of the uuids. */
type Events = Readonly<Record<number, string>>;

const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

const row = (uuid: string, event: string): Row => aRow(uuid, { event });

/** @param maxBytes of a part: by default each row is a part of its own */
async function madeSnapshot(
  store: Store,
  snapshotId: string,
  events: Events,
  maxBytes = 1,
): Promise<Manifest> {
  const rows = Object.entries(events).map(([n, event]) => row(uuidOf(Number(n)), event));
  const parts = await writeParts({
    store,
    key: (index) => layout("uk").part(snapshotId, index),
    lines: streamOf(...rows.map((row) => rowLine(row))),
    maxBytes,
  });
  return aManifest({
    snapshot_id: snapshotId,
    run_id: snapshotId,
    counts: { ...aManifest().counts, listed: rows.length + 5, events: rows.length },
    parts: parts.map(({ stored: _, ...part }) => part),
    stored: parts.map(({ stored }) => stored),
  });
}

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

const changesOf = (before: Manifest, after: Manifest) =>
  Array.fromAsync(compareSnapshots(uk(store), before, after));

const OTHER = "2026-11-19T06-00-00.000Z";

describe("two snapshots", () => {
  it("have the changes of their events as values", async () => {
    const before = await madeSnapshot(store, BEFORE, { 1: "1", 2: '{"a":1,"b":2}', 3: "3", 4: "4", 6: "6" });
    const after = await madeSnapshot(store, AFTER, { 1: "1", 2: '{"b":2,"a":1}', 3: "3.0", 5: "5", 6: "6" });

    expect(await changesOf(before, after)).toEqual([
      { uuid: uuidOf(3), change: "changed", fields: [""], before: "3", after: "3.0" },
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

    await expect(Array.fromAsync(compareSnapshots(uk(store), before, after, proceed))).rejects.toBe(stop);
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
      await store.delete([layout("uk").part(OTHER, 0)]);
    }
    store.put(part, "no gzip");
    await expect(changesOf(before, after)).rejects.toMatchObject(damaged);
    await store.delete([part]);
    await expect(changesOf(before, after)).rejects.toMatchObject(damaged);
  });
});

describe("the damage that a comparison meets", () => {
  const damage = new SyncError("STORE_CORRUPT", "A row is damaged.");

  async function beside(error: SyncError, proceed?: () => void): Promise<unknown> {
    const whole = await madeSnapshot(store, BEFORE, { 1: "1" });
    const damaged = await madeSnapshot(store, AFTER, { 1: "1", 2: "2" });
    store.put(layout("uk").part(AFTER, 1), "no gzip");
    return damageOf(error, uk(store), [undefined, whole, damaged], proceed);
  }

  it("is that of the first part that does not verify", async () => {
    expect(await beside(damage)).toMatchObject({ fields: { key: layout("uk").part(AFTER, 1) } });
  });

  it("is not looked for where it ended with another error", async () => {
    const down = new SyncError("STORE_FAILED", "The store is down.");

    expect(await beside(down)).toBe(down);
  });

  it("is not looked for any further once the work is stopped", async () => {
    const stop = new Error("stopped");
    const proceed = (): void => {
      throw stop;
    };

    await expect(beside(damage, proceed)).rejects.toBe(stop);
  });
});

describe("a snapshot that is compared with nothing", () => {
  const added = (made: Manifest, proceed?: () => void) =>
    Array.fromAsync(compareSnapshots(uk(store), undefined, made, proceed));

  it("has only events that are added, as they were sent", async () => {
    const made = await madeSnapshot(store, AFTER, { 1: "{}", 2: "[2.0]" }, 1_000);

    expect(await added(made)).toEqual([
      { uuid: uuidOf(1), change: "added", fields: null, before: null, after: "{}" },
      { uuid: uuidOf(2), change: "added", fields: null, before: null, after: "[2.0]" },
    ]);
  });

  it("is refused where its rows are not sorted", async () => {
    const made = await madeSnapshot(store, AFTER, { 1: "{}" });
    await store.delete([layout("uk").part(AFTER, 0)]);
    const parts = await writeParts({
      store,
      key: (index) => layout("uk").part(AFTER, index),
      lines: streamOf(rowLine(row("b", "{}")), rowLine(row("a", "{}"))),
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

const diff = (before: readonly Row[], after: readonly Row[]): Promise<Change[]> =>
  Array.fromAsync(diffRows(streamOf(...before), streamOf(...after)));

/** The service client leaves larger details out. */
const DETAIL_BYTES = 4 * 1024 * 1024;

describe("the changes from one snapshot to the next", () => {
  it("are what was added, changed and removed, sorted by uuid", async () => {
    const before = [row("a", "1"), row("c", '{"x":1,"y":2}'), row("d", '{"x":1}'), row("e", "5")];
    const after = [
      row("b", "2"),
      row("c", '{"y":2,"x":1}'),
      row("d", '{"x":1.0}'),
      row("f", "6"),
      row("g", "7"),
    ];

    expect(await diff(before, after)).toEqual([
      { uuid: "a", change: "removed", fields: null, before: "1", after: null },
      { uuid: "b", change: "added", fields: null, before: null, after: "2" },
      { uuid: "d", change: "changed", fields: ["/x"], before: '{"x":1}', after: '{"x":1.0}' },
      { uuid: "e", change: "removed", fields: null, before: "5", after: null },
      { uuid: "f", change: "added", fields: null, before: null, after: "6" },
      { uuid: "g", change: "added", fields: null, before: null, after: "7" },
    ]);
  });

  it.each([
    ["is nested too deep", (n: number) => `${"[".repeat(600)}${n}${"]".repeat(600)}`],
    [
      "has too many pointers",
      (n: number) =>
        JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`key${at}`, n]))),
    ],
  ])(
    "have both texts complete, also of an event that %s for its fields to be named [D30]",
    async (_, text) => {
      const changes = await diff([row("a", text(1))], [row("a", text(2))]);

      expect(changes).toEqual([
        { uuid: "a", change: "changed", fields: [""], before: text(1), after: text(2) },
      ]);
    },
  );

  it("are all additions to nothing, and all removals from it", async () => {
    const rows = [row("a", "1"), row("b", "2")];

    expect((await diff([], rows)).map(({ change }) => change)).toEqual(["added", "added"]);
    expect((await diff(rows, [])).map(({ change }) => change)).toEqual(["removed", "removed"]);
    expect(await diff([], [])).toEqual([]);
    expect(await diff(rows, rows)).toEqual([]);
  });

  it("folded onto the snapshot before give the one after", async () => {
    const snapshot = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), jsonText, {
      noNullPrototype: true,
    });
    const rowsOf = (events: Readonly<Record<string, JsonText>>): Row[] =>
      Object.entries(events)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([uuid, { tight }]) => row(uuid, tight));

    await fc.assert(
      fc.asyncProperty(snapshot, snapshot, async (before, after) => {
        const meaningOf = new Map(
          [...Object.values(before), ...Object.values(after)].map((text) => [text.tight, text.meaning]),
        );
        const folded = new Map(Object.entries(before).map(([uuid, { meaning }]) => [uuid, meaning]));

        for (const change of await diff(rowsOf(before), rowsOf(after))) {
          expect(folded.get(change.uuid)).toBe(
            change.before === null ? undefined : meaningOf.get(change.before),
          );
          if (change.after === null) folded.delete(change.uuid);
          else folded.set(change.uuid, meaningOf.get(change.after) ?? "");
        }

        const expected = new Map(Object.entries(after).map(([uuid, { meaning }]) => [uuid, meaning]));
        expect(new Map([...folded].sort())).toEqual(new Map([...expected].sort()));
      }),
    );
  });

  it.each([
    ["before", [row("b", "1"), row("a", "1")], []],
    ["before", [row("a", "1"), row("a", "1")], [row("a", "1")]],
    ["after", [row("a", "1")], [row("a", "1"), row("c", "1"), row("b", "1")]],
  ])("are not made of rows %s that are out of order", async (_, before, after) => {
    await expect(diff(before, after)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("close both snapshots when the reader stops early", async () => {
    const closed: string[] = [];
    async function* rows(name: string): AsyncGenerator<Row> {
      try {
        yield row("a", name);
        yield row("b", name);
      } finally {
        closed.push(name);
      }
    }

    for await (const _ of diffRows(rows("1"), rows("2"))) break;

    expect(closed.sort()).toEqual(["1", "2"]);
  });
});

describe("a change's line", () => {
  const CHANGE: Change = {
    after: '{"x":"\u2028"}',
    before: "{}",
    fields: ["/\u0085"],
    change: "changed",
    uuid: "a",
  };

  it("has no pointers unless the event has changed", () => {
    expect(JSON.parse(changeLine({ ...CHANGE, change: "removed", fields: null, after: null }))).toEqual({
      uuid: "a",
      change: "removed",
      fields: null,
      before: "{}",
      after: null,
    });
  });

  it("is one line of JSON for every reader, its keys in the contract's order", () => {
    expect(changeLine(CHANGE)).toBe(
      '{"uuid":"a","change":"changed","fields":"[\\"/\\u0085\\"]","before":"{}","after":"{\\"x\\":\\"\\u2028\\"}"}',
    );
  });

  /** Of all but the longest one a sixteenth is looked at: each part of a line is as many times as long as its detail. */
  it.each([
    ["quotes", '\\"', 16],
    ["backslashes", "\\\\", 16],
    ["escaped control characters", "\\u0001", 16],
    ["U+0085", "\u0085", 1],
    ["U+2028", "\u2028", 16],
    ["escaped lone surrogates", "\\ud800", 16],
  ])("has room for both texts of any two details, such as 4 MiB of %s", async (_, filling, share) => {
    const leaf = (text: string): string => `"${text}":["${text}"]`;
    const detail = (end: string): string => {
      const keys = Array.from({ length: 2_000 / share }, (__, n) => leaf(`${filling}${n}${end}`)).join();
      const size = DETAIL_BYTES / share - Buffer.byteLength(keys) - 8;
      return `{${keys},"":"${filling.repeat(Math.floor(size / Buffer.byteLength(filling)))}"}`;
    };
    const [before, after] = [detail("a"), detail("b")];

    const [change] = await diff([row("a", before)], [row("a", after)]);

    expect(Buffer.byteLength(before)).toBeGreaterThan(DETAIL_BYTES / share - 100);
    expect(change).toMatchObject({ change: "changed", before, after });
    expect(lineBytes(changeLine(change ?? CHANGE))).toBeLessThanOrEqual(MAX_ROW_BYTES / share);
  });

  it("has the columns of the table as keys", () => {
    const columns = TABLES.event_changes.columns.map(({ name }) => name);

    expect(Object.keys(JSON.parse(changeLine(CHANGE)))).toEqual(columns);
  });
});
