// The saved queries in the grammar of Trino, which Athena's engine 3 speaks.

import { TrinoSQL } from "dt-sql-parser";
import { describe, expect, it } from "vitest";
import { savedQueries } from "../../lib/data/saved-queries.ts";

const errorsOf = (sql: string): readonly unknown[] => new TrinoSQL().validate(sql);

describe("Athena's grammar", () => {
  it.each(savedQueries("uk").map(({ title, sql }) => [title, sql]))("takes the saved query %s", (_, sql) => {
    expect(errorsOf(sql)).toEqual([]);
  });

  it.each([
    ["a comma too many", "SELECT uuid, FROM events"],
    ["what only DuckDB has", "SELECT * EXCLUDE (event) FROM events"],
    ["a clause of another system", "SELECT uuid FROM events QUALIFY row_number() OVER (ORDER BY uuid) = 1"],
  ])("refuses %s", (_, sql) => {
    expect(errorsOf(sql)).not.toEqual([]);
  });
});
