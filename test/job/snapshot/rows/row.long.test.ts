import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineBytes } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { fitsRow, MAX_ROW_BYTES, rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { anyText } from "../../json/json-texts.ts";
import { aRow } from "./a-row.ts";

const MIB = 1024 * 1024;

describe("a row fits", () => {
  it("never where its line is longer than it may be, and always where it is shorter by a little", () => {
    const text = fc.option(anyText);
    const lifted = fc.dictionary(fc.constantFrom("brand", "spend", "__proto__"), text, {
      noNullPrototype: true,
    });

    fc.assert(
      fc.property(
        anyText,
        text,
        text,
        lifted,
        fc.integer({ min: -40, max: 40 }),
        (event, date, scope, more, away) => {
          const row = aRow("a", { event_date: date, scope, event });
          const bytes = lineBytes(rowLine(row, more));

          const fits = fitsRow({ ...row, ...more }, bytes + away);

          if (away < 0) expect(fits).toBe(false);
          if (away > 4 * Object.keys({ ...row, ...more }).length) expect(fits).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ["ASCII", "x", 1],
    ["quotes", '"', 2],
    ["U+0085", "\u0085", 6],
    ["U+2029", "\u2029", 6],
    ["control characters", "\u0001", 6],
    ["lone surrogates", "\ud800", 6],
  ])("up to 64 MiB with its escapes: %s", (_, character, bytes) => {
    const most = Math.floor((MAX_ROW_BYTES - 100) / bytes);

    expect(fitsRow({ ...ROW, listing: character.repeat(most) })).toBe(true);
    expect(fitsRow({ ...ROW, listing: character.repeat(most + 100) })).toBe(false);
  });

  it("is answered for texts whose line no string could hold", () => {
    const text = '"'.repeat(256 * MIB);

    expect(fitsRow({ listing: text })).toBe(false);
    expect(fitsRow(Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`c${n}`, text])))).toBe(false);
  });
});

const ROW = aRow("a");
