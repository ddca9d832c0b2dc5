import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineBytes } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import {
  type Change,
  changeLine,
  diffRows,
} from "../../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { MAX_ROW_BYTES, type Row } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { TABLES } from "../../../../lambdas/job/storage/layout.ts";
import { type JsonText, jsonText } from "../../json/json-texts.ts";
import { streamOf } from "../files/streams.ts";

const row = (uuid: string, event: string): Row => ({
  uuid,
  event_date: null,
  scope: null,
  event,
  listing: "{}",
});

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
      { uuid: "d", change: "changed", fields: '["/x"]', before: '{"x":1}', after: '{"x":1.0}' },
      { uuid: "e", change: "removed", fields: null, before: "5", after: null },
      { uuid: "f", change: "added", fields: null, before: null, after: "6" },
      { uuid: "g", change: "added", fields: null, before: null, after: "7" },
    ]);
  });

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
    fields: '["/\u0085"]',
    change: "changed",
    uuid: "a",
  };

  it("is one line of JSON for every reader, its keys in the contract's order", () => {
    expect(changeLine(CHANGE)).toBe(
      '{"uuid":"a","change":"changed","fields":"[\\"/\\u0085\\"]","before":"{}","after":"{\\"x\\":\\"\\u2028\\"}"}',
    );
  });

  it.each([
    ["quotes", '\\"'],
    ["backslashes", "\\\\"],
    ["escaped control characters", "\\u0001"],
    ["U+0085", "\u0085"],
    ["U+2028", "\u2028"],
    ["escaped lone surrogates", "\\ud800"],
  ])("has room for both texts of any two details, such as 4 MiB of %s", async (_, filling) => {
    const leaf = (text: string): string => `"${text}":["${text}"]`;
    const detail = (end: string): string => {
      const keys = Array.from({ length: 2_000 }, (__, n) => leaf(`${filling}${n}${end}`)).join();
      const size = DETAIL_BYTES - Buffer.byteLength(keys) - 8;
      return `{${keys},"":"${filling.repeat(Math.floor(size / Buffer.byteLength(filling)))}"}`;
    };
    const [before, after] = [detail("a"), detail("b")];

    const [change] = await diff([row("a", before)], [row("a", after)]);

    expect(Buffer.byteLength(before)).toBeGreaterThan(DETAIL_BYTES - 100);
    expect(change).toMatchObject({ change: "changed", before, after });
    expect(lineBytes(changeLine(change ?? CHANGE))).toBeLessThanOrEqual(MAX_ROW_BYTES);
  });

  it("has the columns of the table as keys", () => {
    const columns = TABLES.event_changes.columns.map(({ name }) => name);

    expect(Object.keys(JSON.parse(changeLine(CHANGE)))).toEqual(columns);
  });
});
