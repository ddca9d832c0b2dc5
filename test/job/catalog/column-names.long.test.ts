// The names that are refused for new columns are exactly those that an engine takes for something else without quotes, among all
// words of both languages. A word that a language does not take there at all is an error, and misleads no reader.

import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { isTakenOtherwise } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { TrinoSQL, TrinoSqlLexer } from "../../lib/trino-grammar.ts";

const isWord = (word: string): boolean => /^[a-z_][a-z0-9_]*$/.test(word);

test("DuckDB takes four words for something else", async () => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const rowsOf = async (sql: string): Promise<string> =>
    JSON.stringify((await connection.runAndReadAll(sql)).getRowsJson());
  const words: readonly string[][] = JSON.parse(await rowsOf("SELECT keyword_name FROM duckdb_keywords()"));
  const uses = [
    (name: string) => `SELECT ${name} FROM v`,
    (name: string) => `SELECT uuid FROM v WHERE ${name} = 'b'`,
    (name: string) => `SELECT uuid FROM v ORDER BY ${name}`,
    (name: string) => `SELECT count(*) FROM v GROUP BY ${name} ORDER BY 1`,
  ];
  const others: string[] = [];
  for (const word of words.flat().filter(isWord)) {
    await connection.run(
      `CREATE OR REPLACE VIEW v AS SELECT uuid, c AS "${word}" FROM (VALUES ('x', 'b'), ('y', 'a')) t(uuid, c)`,
    );
    for (const use of uses) {
      const found = await rowsOf(use(word)).catch(() => undefined);
      if (found !== undefined && found !== (await rowsOf(use(`"${word}"`)))) others.push(word);
    }
  }

  expect(words.length).toBeGreaterThan(300);
  expect(new Set(others)).toEqual(new Set(["all", "false", "null", "true"]));
  expect([...new Set(others)].filter((word) => !isTakenOtherwise(word))).toEqual([]);
});

test("Trino takes twelve words for something else", () => {
  const words = TrinoSqlLexer.literalNames.flatMap((word) => word?.slice(1, -1).toLowerCase() ?? []);
  const grammar = new TrinoSQL();
  const others = words.filter((word) => {
    const sql = `SELECT ${word} FROM v`;
    if (!isWord(word) || grammar.validate(sql).length > 0) return false;
    const parser = grammar.createParser(sql);
    return !parser.program().toStringTree(parser).includes("(columnRef ");
  });

  expect(words.length).toBeGreaterThan(200);
  expect(others).toHaveLength(12);
  expect(others.filter((word) => !isTakenOtherwise(word))).toEqual([]);
  const refused = words.filter(isTakenOtherwise);
  expect(refused.filter((word) => !others.includes(word))).toEqual(["all"]);
});

test("Hive's tables of JSON call a column by its place as well", () => {
  const names = ["_col0", "_col17", "_col", "_cola", "col0", "_col1_", "current_date", "current_dates"];

  expect(names.filter(isTakenOtherwise)).toEqual(["_col0", "_col17", "current_date"]);
});
