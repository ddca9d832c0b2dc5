// A result on a terminal: columns in line, long values cut, nothing that controls the terminal.

import terminalWidth from "fast-string-truncated-width";
import { describe, expect, it } from "vitest";
import { formatTable } from "../../../bin/cli/output/format-result.ts";

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

  it.each([
    ["an escape sequence", "\u001b[2Jx", "\\u001b[2Jx"],
    ["a control character of eight bits", "\u009b2J", "\\u009b2J"],
    ["a line break", "a\nb\r", "a\\nb\\u000d"],
    ["a separator of lines", "a\u2028b", "a\\u2028b"],
    ["a reversal of the line", "a\u202eb", "a\\u202eb"],
    ["half a character", "a\ud800b", "a\\ud800b"],
  ])("shows %s as an escape", (_, value, expected) => {
    expect(formatTable({ columns: ["a"], rows: [[value]] }).split("\n")[2]).toBe(expected);
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

  it("leaves out the last columns where all would be too narrow to read", () => {
    const names = Array.from({ length: 20 }, (_, index) => `column_${index}`);

    expect(formatTable({ columns: names, rows: [names] }, { width: 40 }).split("\n")).toEqual([
      "column_0  column_1  column_2  …",
      "────────  ────────  ────────  ─",
      "column_0  column_1  column_2",
      "(1 row, cut to fit; whole: --full, or --format vertical)",
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
