// A table of texts: columns in line, nothing that controls a terminal, and on one no wider than it.

import terminalWidth from "fast-string-truncated-width";
import { describe, expect, it } from "vitest";
import { formatTable, type ResultRow, tableOf } from "../../../bin/cli/output/table.ts";

describe("a table of many rows", () => {
  const LONG = "y".repeat(70_000);
  const short = Array.from({ length: 1000 }, () => ["x", "1"]);
  const shown = async (rows: readonly ResultRow[], options = {}): Promise<readonly string[]> => {
    const batches = [rows.slice(0, 700), rows.slice(700, 2000), rows.slice(2000)];
    const text = (await Array.fromAsync(tableOf({ columns: ["a", "b"], batches }, options))).join("");
    return text.split("\n");
  };

  it("is as wide as its first 1,000 rows; a later value that is wider stays whole", async () => {
    const lines = await shown([...short, ["longer", "2"], ["x", null]]);

    expect(lines.slice(0, 3)).toEqual(["a  b", "─  ─", "x  1"]);
    expect(lines.slice(-4)).toEqual(["longer  2", "x  NULL", "(1002 rows)", ""]);
  });

  it("cuts that value on a terminal, and says so", async () => {
    const lines = await shown([...short, [LONG, "2"]], { width: 80 });

    expect(lines.slice(-3)).toEqual([
      "…  2",
      "(1001 rows, cut to fit; whole: --full, or --format vertical)",
      "",
    ]);
  });

  it("is not made as long as its longest value times its rows", async () => {
    const lines = await shown([[LONG, "1"], ...Array.from({ length: 10_200 }, () => ["x", "1"])]);

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
