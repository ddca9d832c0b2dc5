// A result in the form that a person or a program wants: a program reads the same values, whatever they hold; a terminal
// shows columns in line, long values cut, and nothing that controls it.

import fc from "fast-check";
import terminalWidth from "fast-string-truncated-width";
import { describe, expect, it } from "vitest";
import type { TextFormat } from "../../../bin/cli/options/options.ts";
import {
  formatResult,
  formatTable,
  type ResultRow,
  type ResultRows,
} from "../../../bin/cli/output/format-result.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

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
  fc.string({ unit: "binary" }),
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

describe("a table of many rows", () => {
  const LONG = "y".repeat(70_000);
  const short = Array.from({ length: 1000 }, () => ["x", "1"]);
  const tableOf = async (rows: readonly ResultRow[], options = {}): Promise<readonly string[]> => {
    const batches = [rows.slice(0, 700), rows.slice(700, 2000), rows.slice(2000)];
    const text = (
      await Array.fromAsync(formatResult("table", resultOf(["a", "b"], ...batches), options))
    ).join("");
    return text.split("\n");
  };

  it("is as wide as its first 1,000 rows; a later value that is wider stays whole", async () => {
    const lines = await tableOf([...short, ["longer", "2"], ["x", null]]);

    expect(lines.slice(0, 3)).toEqual(["a  b", "─  ─", "x  1"]);
    expect(lines.slice(-4)).toEqual(["longer  2", "x  NULL", "(1002 rows)", ""]);
  });

  it("cuts that value on a terminal, and says so", async () => {
    const lines = await tableOf([...short, [LONG, "2"]], { width: 80 });

    expect(lines.slice(-3)).toEqual([
      "…  2",
      "(1001 rows, cut to fit; whole: --full, or --format vertical)",
      "",
    ]);
  });

  it("is not made as long as its longest value times its rows", async () => {
    const lines = await tableOf([[LONG, "1"], ...Array.from({ length: 10_200 }, () => ["x", "1"])]);

    expect(lines[2]).toBe(`${LONG}  1`);
    expect(lines[3]).toBe(`x${" ".repeat(999)}  1`);
    expect(lines).toHaveLength(10_205);
  });
});

describe("formatTable", () => {
  it("puts columns in line and counts the rows", () => {
    const text = formatTable({
      columns: ["uuid", "n"],
      rows: [
        ["a", "1"],
        ["long one", null],
      ],
    });

    expect(text).toBe(
      [
        "uuid      n", //
        "────────  ────",
        "a         1",
        "long one  NULL",
        "(2 rows)",
        "",
      ].join("\n"),
    );
  });

  it("shows the columns of a result without rows, and one row as one", () => {
    expect(formatTable({ columns: ["a", "b"], rows: [] })).toBe("a  b\n─  ─\n(0 rows)\n");
    expect(formatTable({ columns: ["a"], rows: [["x"]] })).toBe("a\n─\nx\n(1 row)\n");
  });

  it("cuts values and names that are too wide", () => {
    expect(formatTable({ columns: ["abcdef"], rows: [["123456"]] }, { maxWidth: 4 })).toBe(
      "abc…\n────\n123…\n(1 row)\n",
    );
  });

  it("keeps columns in line behind wide characters", () => {
    expect(formatTable({ columns: ["a", "b"], rows: [["日本", "x"]] })).toBe(
      "a     b\n────  ─\n日本  x\n(1 row)\n",
    );
  });

  it("shows what controls a terminal, and half a character, as an escape", () => {
    const text = formatTable({ columns: ["a\u202e"], rows: [["\u001b[2Jx\n"], ["a\ud800b"]] });

    expect(text.split("\n").slice(0, 4)).toEqual(["a\\u202e", "────────────", "\\u001b[2Jx\\n", "a\\ud800b"]);
  });

  it("takes no time for a value of megabytes", () => {
    const text = formatTable(
      { columns: ["a"], rows: Array.from({ length: 50 }, () => ["x".repeat(1_000_000)]) },
      { maxWidth: 60 },
    );

    expect(text.split("\n")[2]).toBe(`${"x".repeat(59)}…`);
  });
});

describe("a table on a terminal", () => {
  it("is whole where it fits to the column", () => {
    const rows = { columns: ["ab", "c"], rows: [["12345678", "x"]] };

    expect(formatTable(rows, { width: 11 })).toBe("ab        c\n────────  ─\n12345678  x\n(1 row)\n");
    expect(formatTable(rows, { width: 500 })).toBe(formatTable(rows));
  });

  it("cuts the widest columns only, and says how to see everything", () => {
    const rows = { columns: ["id", "a", "b"], rows: [["123", "x".repeat(100), "y".repeat(100)]] };

    expect(formatTable(rows, { width: 40 }).split("\n")).toEqual([
      "id   a                 b",
      "───  ────────────────  ────────────────",
      `123  ${"x".repeat(15)}…  ${"y".repeat(15)}…`,
      "(1 row, cut to fit; whole: --full, or --format vertical)",
      "",
    ]);
  });

  const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
  const INSTANT = "2026-11-21 06:00:00.123+00";
  const JSON_TEXT = `{"name":"${"x".repeat(90)}"}`;

  it.each([
    {
      what: "cuts JSON first, wherever it is, and nothing else",
      columns: ["event", "uuid", "at", "n"],
      row: [JSON_TEXT, UUID, INSTANT, "1"],
      width: 87,
      line: `{"name":"xxxxxxxx…  ${UUID}  ${INSTANT}  1`,
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)"],
    },
    {
      what: "leaves out JSON of which nothing could be read, whole, before a uuid or an instant is cut",
      columns: ["event", "uuid", "at", "n"],
      row: [JSON_TEXT, UUID, INSTANT, "1"],
      width: 80,
      line: `${UUID}  ${INSTANT}  1`,
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)", "1 column does not fit: event"],
    },
    {
      what: "shows a uuid whole or not at all, and a narrower column that still fits",
      columns: ["a", "b", "c"],
      row: [UUID, UUID, "true"],
      width: 50,
      line: `${UUID}  true`,
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)", "1 column does not fit: b"],
    },
    {
      what: "keeps a long text whole where JSON can be cut for that",
      columns: ["uuid", "name", "event"],
      row: [UUID, "y".repeat(40), JSON_TEXT],
      width: 100,
      line: `${UUID}  ${"y".repeat(40)}  {"name":"xxxxxxxxxx…`,
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)"],
    },
    {
      what: "cuts a long text where nothing else can be",
      columns: ["uuid", "message"],
      row: [UUID, "y".repeat(300)],
      width: 80,
      line: `${UUID}  ${"y".repeat(41)}…`,
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)"],
    },
    {
      what: "takes a text in brackets for no JSON where another row has none",
      columns: ["uuid", "message"],
      row: [UUID, "[y"],
      more: [UUID, "y".repeat(300)],
      width: 80,
      line: `${UUID}  [y`,
      foot: ["(2 rows, cut to fit; whole: --full, or --format vertical)"],
    },
    {
      what: "shows the beginning of the first column where nothing fits",
      columns: ["uuid", "at"],
      row: [UUID, INSTANT],
      width: 12,
      line: "01890a5d-ac…",
      foot: ["(1 row, cut to fit; whole: --full, or --format vertical)", "1 column does not fit:", "  at"],
    },
  ])("$what", ({ columns, row, more, width, line, foot }) => {
    const text = formatTable({ columns, rows: more ? [row, more] : [row] }, { width });

    const lines = text.trimEnd().split("\n");
    expect(lines[2]).toBe(line);
    expect(lines.slice(more ? 4 : 3)).toEqual(foot);
  });

  it("names the columns that do not fit, all of them", () => {
    const names = Array.from({ length: 20 }, (_, index) => `column_${index}`);

    expect(formatTable({ columns: names, rows: [names] }, { width: 40 }).split("\n")).toEqual([
      "column_0  column_1  column_2  column_3",
      "────────  ────────  ────────  ────────",
      "column_0  column_1  column_2  column_3",
      "(1 row, cut to fit; whole: --full, or --format vertical)",
      "16 columns do not fit: column_4,",
      "  column_5, column_6, column_7,",
      "  column_8, column_9, column_10,",
      "  column_11, column_12, column_13,",
      "  column_14, column_15, column_16,",
      "  column_17, column_18, column_19",
      "",
    ]);
  });

  it("has no line wider than the terminal, at any width", () => {
    const rows = { columns: ["a", "日本", "long name"], rows: [["日本語".repeat(9), "x", null]] };
    for (let width = 4; width <= 60; width++) {
      const lines = formatTable(rows, { width }).split("\n").slice(0, 3);

      expect(Math.max(...lines.map((line) => terminalWidth(line).width))).toBeLessThanOrEqual(width);
    }
  });
});

describe("a column", () => {
  it.each([
    ["", 1],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["한", 2],
    ["Ａ", 2],
    ["😀", 2],
    ["👨‍👩‍👧", 2],
    ["❤️", 2],
    ["…", 1],
  ])("of %j is %i wide", (text, width) => {
    const rule = formatTable({ columns: ["x"], rows: [[text]] }).split("\n")[1];

    expect(rule).toBe("─".repeat(width));
  });

  it.each([
    ["abcd", 4, "abcd"],
    ["abcde", 4, "abc…"],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
  ])("cuts %j to %i columns as %j", (text, maxWidth, expected) => {
    const shown = formatTable({ columns: ["x"], rows: [[text]] }, { maxWidth }).split("\n")[2];

    expect(shown).toBe(expected);
  });
});
