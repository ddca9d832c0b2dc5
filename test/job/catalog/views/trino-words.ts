// The words of Trino in the views that DuckDB lacks, as macros, so that DuckDB runs the SQL for Trino as it stands.

export const TRINO_WORDS = `CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
CREATE MACRO date_add(unit, count, instant) AS instant + to_minutes(count);`;
