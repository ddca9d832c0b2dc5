import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AddedLine, addedLines } from "../../../../lambdas/job/snapshot/compare/added-lines.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import type { PartInfo } from "../../../../lambdas/job/snapshot/files/verify-part.ts";
import { changeLine } from "../../../../lambdas/job/snapshot/rows/diff-rows.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "../files/streams.ts";
import { AFTER, madeSnapshot, uuidOf } from "./made-snapshot.ts";

const lineOf = (row: string): string => Buffer.from(new AddedLine().of(Buffer.from(row)).line).toString();

describe("the change of a row that is added", () => {
  it("is the row's uuid and event, byte by byte", () => {
    const row =
      '{"uuid":"a1","event_date":null,"scope":"x","event":"{\\"a\\":1.0,\\"b\\":\\"\\\\u0041é\\"}","listing":"{}","brand":"y"}';

    expect(lineOf(row)).toBe(
      '{"uuid":"a1","change":"added","fields":null,"before":null,"after":"{\\"a\\":1.0,\\"b\\":\\"\\\\u0041é\\"}"}',
    );
  });

  it("is the line that is written for its event, whatever the columns hold", () => {
    const traps = [
      ',"event":"',
      '","listing":"',
      '"',
      "\\",
      '\\"',
      "\u2028",
      "\u0085",
      '"}',
      ",",
      "é",
      "\ud83d\ude00",
      "\n",
    ];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...traps), fc.string({ unit: "grapheme" })), { maxLength: 6 })
      .map((pieces) => pieces.join(""));
    const lifted = fc.constantFrom({}, { brand: ',"listing":"' }, { brand: null });

    fc.assert(
      fc.property(
        text,
        fc.option(text),
        fc.option(text),
        text,
        text,
        lifted,
        (uuid, event_date, scope, event, listing, more) => {
          const line = lineOf(rowLine({ uuid, event_date, scope, event, listing }, more));

          expect(line).toBe(changeLine({ uuid, change: "added", fields: null, before: null, after: event }));
        },
      ),
    );
  });

  it.each([
    ["in another order", '{"listing":"{}","event":"1e400","uuid":"a1","event_date":null,"scope":null}'],
    [
      "with white space",
      '{"uuid": "a1", "event_date": null, "scope": null, "event": "1e400", "listing": "{}"}',
    ],
  ])("is the same for a row that is written %s", (_, row) => {
    expect(lineOf(row)).toBe('{"uuid":"a1","change":"added","fields":null,"before":null,"after":"1e400"}');
  });
});

describe("the changes of a snapshot that is compared with nothing", () => {
  it("have all rows of a part", async () => {
    const store = new MemoryStore();
    const manifest = await madeSnapshot(store, AFTER, { 1: "{}", 2: "[2.0]" }, 1_000);

    const lines: string[] = [];
    for await (const line of addedLines(
      accountStore(store, "uk"),
      manifest,
      onlyPart(manifest),
      () => undefined,
    ))
      lines.push(Buffer.from(line).toString());

    expect(lines).toEqual([
      `{"uuid":"${uuidOf(1)}","change":"added","fields":null,"before":null,"after":"{}"}`,
      `{"uuid":"${uuidOf(2)}","change":"added","fields":null,"before":null,"after":"[2.0]"}`,
    ]);
  });

  it("are refused where the rows are not sorted", async () => {
    const store = new MemoryStore();
    const made = await madeSnapshot(store, AFTER, { 1: "{}" });
    const row = (uuid: string): string =>
      rowLine({ uuid, event_date: null, scope: null, event: "{}", listing: "{}" });
    await store.delete(layout("uk").part(AFTER, 0));
    const parts = await writeParts({
      store,
      key: (index) => layout("uk").part(AFTER, index),
      lines: streamOf(row("b"), row("a")),
    });

    const lines = Array.fromAsync(
      addedLines(accountStore(store, "uk"), made, onlyPart({ parts }), () => undefined),
    );

    await expect(lines).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { uuid: "a" } });
  });

  it("end where the caller stops", async () => {
    const store = new MemoryStore();
    const manifest = await madeSnapshot(store, AFTER, { 1: "{}", 2: "{}" }, 1_000);
    const stop = new Error("stop");
    const proceed = (): void => {
      throw stop;
    };

    await expect(
      Array.fromAsync(addedLines(accountStore(store, "uk"), manifest, onlyPart(manifest), proceed)),
    ).rejects.toBe(stop);
  });
});

function onlyPart({ parts }: { readonly parts: readonly PartInfo[] }): PartInfo {
  const [part, ...others] = parts;
  if (!part || others.length > 0) throw new Error(`expected one part, and got ${parts.length}`);
  return part;
}
