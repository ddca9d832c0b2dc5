// The words of Trino in the views that DuckDB lacks, as macros, so that DuckDB runs the SQL for Trino as it stands, but for the name
// of one type.

export const TRINO_WORDS = `CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
CREATE MACRO date_add(unit, count, instant) AS instant + to_minutes(count);
CREATE MACRO json_parse(text) AS CAST(text AS JSON);`;

/** A type can be no macro. */
export const withDuckDBTypes = (sql: string): string => sql.replaceAll("ARRAY(VARCHAR)", "VARCHAR[]");
