import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AddedAhead, type AddedFile } from "../../../../lambdas/job/snapshot/compare/added-ahead.ts";
import { changeLine } from "../../../../lambdas/job/snapshot/rows/diff-rows.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { uuidOf } from "./made-snapshot.ts";

const rowOf = (n: number, event: string): string =>
  rowLine({ uuid: uuidOf(n), event_date: null, scope: null, event, listing: "{}" });
const addedOf = (n: number, event: string): string =>
  changeLine({ uuid: uuidOf(n), change: "added", fields: null, before: null, after: event });
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const textIn = (file: AddedFile | undefined): string =>
  file ? gunzipSync(Buffer.concat(file.chunks), { rejectGarbageAfterEnd: true }).toString() : "none";

/** In blocks, whose memory is used again. */
async function added(blocks: readonly string[], ahead: AddedAhead): Promise<AddedAhead> {
  for (const block of blocks) {
    const rows = Buffer.from(block);
    await ahead.add(rows);
    rows.fill(0);
  }
  return ahead;
}

describe("the changes that are made ahead", () => {
  it("are one file of all rows, however these come in blocks", async () => {
    const events = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(events, fc.integer({ min: 1, max: 12 }), async (texts, inBlock) => {
        const rows = texts.map((text, n) => rowOf(n, JSON.stringify({ text })));
        const blocks = rows.flatMap((_, at) =>
          at % inBlock === 0 ? [textOf(rows.slice(at, at + inBlock))] : [],
        );

        const file = await (await added(blocks, new AddedAhead(rows.length))).file(rows.length);

        expect(file?.rows).toBe(rows.length);
        expect(textIn(file)).toBe(textOf(texts.map((text, n) => addedOf(n, JSON.stringify({ text })))));
      }),
    );
  });

  it("are not there without a row, or where a row is missing", async () => {
    const ahead = await added([textOf([rowOf(1, "1")])], new AddedAhead(2));

    expect(await new AddedAhead(0).file(0)).toBeUndefined();
    expect(await ahead.file(2)).toBeUndefined();
    expect(await ahead.file(1)).toBeDefined();
  });

  it("take no more memory than their file, however small the blocks are", async () => {
    const rows = Array.from({ length: 300 }, (_, n) => `${rowOf(n, "1")}\n`);
    const file = await (await added(rows, new AddedAhead(rows.length))).file(rows.length);

    const buffers = new Set(file?.chunks.map(({ buffer }) => buffer));
    const bytes = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);

    expect(bytes).toBeLessThan(300 * 1024);
  });

  it.each([
    { planned: 2, isKept: true },
    { planned: 40, isKept: false },
  ])(
    "are given up early where $planned rows are planned, and there is room for a few",
    async ({ planned, isKept }) => {
      const rows = [1, 2].map((n) => textOf([rowOf(n, '"text"')]));

      const file = await (await added(rows, new AddedAhead(planned, 1_000))).file(2);

      expect(file !== undefined).toBe(isKept);
    },
  );
});
