// A result in the form that a person or a program wants: a program reads the same values, whatever they hold.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TextFormat } from "../../../bin/cli/options/options.ts";
import { changesText, formatResult } from "../../../bin/cli/output/format-result.ts";
import type { ResultRow, ResultRows } from "../../../bin/cli/output/table.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { ChangedRow, ChangedValue } from "../../../lambdas/job/snapshot/rows/first-changes.ts";
import { anyText } from "../../job/json/any-text.ts";

const resultOf = (columns: readonly string[], ...batches: readonly (readonly ResultRow[])[]): ResultRows => ({
  columns,
  batches: (async function* () {
    yield* batches;
  })(),
});

const textOf = async (format: TextFormat, result: ResultRows): Promise<string> =>
  (await Array.fromAsync(formatResult(format, result, {}))).join("");

/** A reader of RFC 4180 of our own, which tells an empty field from an empty text in quotes. */
function readCsv(text: string): readonly (readonly (string | null)[])[] {
  const records: (string | null)[][] = [];
  let record: (string | null)[] = [];
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/gy;
  for (const [, quoted, plain, end] of text.matchAll(fields)) {
    record.push(quoted?.replaceAll('""', '"') ?? (plain === "" ? null : (plain ?? null)));
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

const hostile = fc.oneof(
  fc.constantFrom(
    "",
    '"',
    '""',
    ",",
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u2029",
    "\u0085",
    "\0",
    "NULL",
    "\\",
    "'",
  ),
  fc.constantFrom("9007199254740993", "1.10", "-0", "1e400", " x ", "=1+1", "\u202e", "日本", "😀", "\ufeff"),
  anyText,
);
const value = fc.option(
  fc.oneof(
    hostile,
    fc.array(hostile).map((texts) => texts.join("")),
  ),
);
/** V8's `JSON.parse` takes a key of one escaped character for `\\` where an object before it had that key. */
const name = hostile.filter((text) => text !== "\\");
const tables = fc.integer({ min: 1, max: 4 }).chain((width) =>
  fc.record({
    columns: fc.uniqueArray(name, { minLength: width, maxLength: width }),
    rows: fc.array(fc.array(value, { minLength: width, maxLength: width }), { maxLength: 5 }),
  }),
);

describe("a result of any texts", () => {
  it("is the same read from CSV, null and empty text apart", async () => {
    await fc.assert(
      fc.asyncProperty(
        tables.filter(({ columns }) => columns.length > 1),
        async ({ columns, rows }) => {
          const text = await textOf("csv", resultOf(columns, rows));

          expect(readCsv(text)).toEqual([columns, ...rows]);
        },
      ),
    );
  });

  it.each<[TextFormat, (text: string) => unknown]>([
    ["json", (text) => JSON.parse(text)],
    [
      "ndjson",
      (text) =>
        text
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
    ],
  ])("is the same read from %s, in the order of the columns", async (format, read) => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ columns, rows }) => {
        const text = await textOf(format, resultOf(columns, rows.slice(0, 2), [], rows.slice(2)));

        expect(read(text)).toEqual(
          rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]]))),
        );
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Control}\u2028\u2029\u202a-\u202e]/u);
      }),
    );
  });

  it("is the same read from the line of --json", async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ columns, rows }) => {
        const batches = [rows.slice(0, 2), [], rows.slice(2)];
        const line = (await Array.fromAsync(formatResult("line", resultOf(columns, ...batches)))).join("");

        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual({ columns, rows });
      }),
    );
  });

  it("has one line for each value when it is vertical", async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ columns, rows }) => {
        const text = await textOf("vertical", resultOf(columns, rows));

        expect(text.split("\n")).toHaveLength(rows.length * (columns.length + 1) + 2);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Control}\u2028\u2029\u202a-\u202e]/u);
      }),
    );
  });
});

describe("csv", () => {
  it.each([
    ["a plain text", "x", "x"],
    ["null", null, ""],
    ["an empty text", "", '""'],
    ["a quote", 'a"b', '"a""b"'],
    ["a comma", "a,b", '"a,b"'],
    ["a line break", "a\nb", '"a\nb"'],
    ["blanks at an edge", " a", '" a"'],
    ["a large number", "9007199254740993", "9007199254740993"],
  ])("writes %s", async (_, text, expected) => {
    expect(await textOf("csv", resultOf(["a", "b"], [[text, "1"]]))).toBe(`a,b\n${expected},1\n`);
  });

  it("writes no empty line, which readers skip", async () => {
    expect(await textOf("csv", resultOf(["a"], [[null], [""], ["x"]]))).toBe('a\n""\n""\nx\n');
  });

  it("writes the header of a result without rows", async () => {
    expect(await textOf("csv", resultOf(["a", "b"]))).toBe("a,b\n");
  });
});

describe("json", () => {
  it("is an array of objects, each on a line of its own", async () => {
    const result = resultOf(["a", "b"], [["1", null]], [["2", "x"]]);

    expect(await textOf("json", result)).toBe('[\n{"a":"1","b":null},\n{"a":"2","b":"x"}\n]\n');
  });

  it("is an empty array where there are no rows", async () => {
    expect(await textOf("json", resultOf(["a"]))).toBe("[]\n");
  });
});

describe("ndjson", () => {
  it("keeps columns of the same name apart, and the order of names that are numbers", async () => {
    const result = resultOf(["b", "1", "b", "b_1"], [["w", "x", "y", "z"]]);

    expect(await textOf("ndjson", result)).toBe('{"b":"w","1":"x","b_1":"y","b_1_1":"z"}\n');
  });
});

describe("vertical", () => {
  it("shows one value a line, whole, below the number of its row", async () => {
    const result = resultOf(["id", "name"], [["1", null]], [["2", "a\nb"]]);

    expect(await textOf("vertical", result)).toBe(
      [
        "─── row 1 ──────────────────────────────",
        "id    1",
        "name  NULL",
        "─── row 2 ──────────────────────────────",
        "id    2",
        "name  a\\nb",
        "(2 rows)",
        "",
      ].join("\n"),
    );
  });
});

describe("--json of a query that fails", () => {
  const failing = (...rows: readonly ResultRow[]): ResultRows => ({
    columns: ["a"],
    batches: (async function* () {
      yield rows;
      throw new SyncError("QUERY_FAILED", "no\u2028value");
    })(),
  });

  it.each([
    ["has no text before the first row", [], ""],
    [
      "ends with the error after it",
      [["1"]],
      String.raw`{"columns":["a"],"rows":[["1"]],"error_code":"QUERY_FAILED","error_message":"no\u2028value"}` +
        "\n",
    ],
  ])("%s", async (_, rows, expected) => {
    let text = "";
    const reading = (async () => {
      for await (const piece of formatResult("line", failing(...rows))) text += piece;
    })();

    await expect(reading).rejects.toMatchObject({ code: "QUERY_FAILED" });
    expect(text).toBe(expected);
  });
});

describe("changes with their values", () => {
  const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
  const changed = (...values: readonly ChangedValue[]): ChangedRow => ({
    ...{ uuid: UUID, change: "changed", fields: [], reason: null },
    values,
  });
  const long = (letter: string): string => `"${letter.repeat(200)}"`;

  it.each([
    {
      what: "are beside each other",
      value: { field: "/a", before: "1.10", after: "1.1" },
      lines: ["  /a: 1.10 → 1.1"],
    },
    {
      what: "say what is absent, and what is null",
      value: { field: "/a", before: "null", after: null },
      lines: ["  /a: null → absent"],
    },
    {
      what: "are cut to the terminal, the longer one first",
      value: { field: "/a", before: "1", after: long("x") },
      lines: [`  /a: 1 → "${"x".repeat(68)}…`],
      isCut: true,
    },
    {
      what: "share the line where both are long",
      value: { field: "/a", before: long("x"), after: long("y") },
      lines: [`  /a: "${"x".repeat(33)}… → "${"y".repeat(33)}…`],
      isCut: true,
    },
    {
      what: "have a line of their own below a long pointer",
      value: { field: `/${"p".repeat(60)}`, before: "1", after: "2" },
      lines: [`  /${"p".repeat(60)}:`, "    1 → 2"],
    },
    {
      what: "of a whole event are named so, and control no terminal",
      value: { field: "", before: '"\u009b"', after: "2" },
      lines: ['  the whole event: "\\u009b" → 2'],
    },
  ])("$what", ({ value, lines, isCut = false }) => {
    const foot = isCut ? ["(cut to fit; whole: --full, or --format vertical)"] : [];

    expect(changesText([changed(value)], 80).split("\n")).toEqual([
      `${UUID}  changed`,
      ...lines,
      ...foot,
      "",
    ]);
  });

  it("are not shown of an event that only one snapshot has", () => {
    const removed = { uuid: UUID, change: "removed", fields: null, reason: "gone" } as const;
    const values = [{ field: null, before: "{}", after: null }];

    expect(changesText([{ ...removed, values }], 80)).toBe(`${UUID}  removed  gone\n`);
  });
});
