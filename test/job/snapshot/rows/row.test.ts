import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRow, rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { TABLES } from "../../../../lambdas/job/storage/layout.ts";
import { anyText } from "../../json/json-texts.ts";
import { aRow } from "./a-row.ts";

const ROW = aRow("0f8fad5b-d9cb-469f-a165-70867728950e", { event_date: "2026-01-02", event: '{"n":1.10}' });

describe("a row's line", () => {
  it("is JSON with the keys in the contract's order, whatever the order given", () => {
    const { listing, event, ...rest } = ROW;

    expect(rowLine({ listing, event, ...rest })).toBe(
      '{"uuid":"0f8fad5b-d9cb-469f-a165-70867728950e","event_date":"2026-01-02","scope":null,"event":"{\\"n\\":1.10}","listing":"{}"}',
    );
  });

  it("has the columns of the table as keys", () => {
    const columns = TABLES.events.columns.map(({ name }) => name);

    expect(Object.keys(JSON.parse(rowLine(ROW)))).toEqual(columns);
  });

  it.each([
    ["U+2028", "a\u2028b", '"a\\u2028b"'],
    ["U+2029", "\u2029\u2029", '"\\u2029\\u2029"'],
    ["U+0085", "\u0085", '"\\u0085"'],
    ["a newline", "\n\r", '"\\n\\r"'],
    ["a lone surrogate", "\ud800", '"\\ud800"'],
    ["an escape in the source text", '"\\u2028"', '"\\"\\\\u2028\\""'],
    ["a character beside them", "\u2027\u202a\u0084", '"\u2027\u202a\u0084"'],
  ])("writes %s so that every reader sees one line", (_, scope, expected) => {
    expect(rowLine({ ...ROW, scope })).toContain(`"scope":${expected},`);
  });

  it("carries any texts there and back on one line", () => {
    const text = fc.option(anyText);

    fc.assert(
      fc.property(anyText, text, text, anyText, anyText, (uuid, event_date, scope, event, listing) => {
        const row = { uuid, event_date, scope, event, listing };

        const line = rowLine(row);

        expect(parseRow(line)).toEqual(row);
        expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
        expect(line.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("what is not a row", () => {
  it.each([
    ["no JSON", '{"uuid":"secret'],
    ["an array", "[]"],
    ["null", "null"],
    ["no uuid", '{"event_date":null,"scope":null,"event":"{}","listing":"{}"}'],
    ["a number as the date", '{"uuid":"secret","event_date":1,"scope":null,"event":"{}","listing":"{}"}'],
    ["no scope", '{"uuid":"secret","event_date":null,"event":"{}","listing":"{}"}'],
    ["an object as the event", '{"uuid":"secret","event_date":null,"scope":null,"event":{},"listing":"{}"}'],
    ["no listing", '{"uuid":"secret","event_date":null,"scope":null,"event":"{}","listing":null}'],
  ])("%s is refused without being quoted", (_, line) => {
    const error = catchError(() => parseRow(line));

    expect(error).toMatchObject({ code: "STORE_CORRUPT" });
    expect(inspect(error)).not.toContain("secret");
  });

  it("a column that a later version appended is let pass", () => {
    expect(parseRow(`${rowLine(ROW).slice(0, -1)},"brand":"x"}`)).toEqual(ROW);
  });
});

function catchError(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
