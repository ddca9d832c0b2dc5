// The saved queries, parsed with the grammar of Trino, on which Athena's engine 3 is based.

import { describe, expect, it } from "vitest";
import { savedQueries } from "../../lib/data/workgroup.ts";
import { TrinoSQL } from "./trino-grammar.ts";

const errorsOf = (sql: string): readonly unknown[] => new TrinoSQL().validate(sql);

describe("Athena's grammar", () => {
  it.each(savedQueries("uk").map(({ title, sql }) => [title, sql]))(
    "accepts the saved query %s",
    (_, sql) => {
      expect(errorsOf(sql)).toEqual([]);
    },
  );

  it.each([
    ["an extra comma", "SELECT uuid, FROM events"],
    ["syntax of DuckDB only", "SELECT * EXCLUDE (event) FROM events"],
    ["a clause that Trino lacks", "SELECT uuid FROM events QUALIFY row_number() OVER (ORDER BY uuid) = 1"],
  ])("refuses %s", (_, sql) => {
    expect(errorsOf(sql)).not.toEqual([]);
  });
});
