// Athena's JSON functions for DuckDB, so that a query is written once for Athena and for a laptop.

/**
 * `json_extract_scalar`, as in Athena: the text of the scalar at the path, null for anything else and for what is no JSON. Brackets
 * around a key are Athena's way to write it, quotes DuckDB's. DuckDB reads no JSON with an unpaired escaped
 * surrogate, which the service may send: only there, all escaped surrogates become U+FFFD. CASE and not TRY:
 * the optimizer moves an expression that occurs twice out of a TRY, where it fails after all.
 * `json_format`: the text of a JSON value, such as `json_extract` returns.
 */
export const ATHENA_FUNCTIONS = String.raw`CREATE OR REPLACE MACRO _scalar_at(json_text, json_path) AS
  CASE WHEN json_type(json_text, json_path) IN ('OBJECT', 'ARRAY') THEN NULL
  ELSE json_extract_string(json_text, json_path) END;
CREATE OR REPLACE MACRO _quoted_keys(json_path) AS regexp_replace(json_path, '\["([^"]*)"\]', '."\1"', 'g');
CREATE OR REPLACE MACRO _without_surrogates(json_text) AS
  regexp_replace(json_text, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g');
CREATE OR REPLACE MACRO json_extract_scalar(json_text, json_path) AS
  CASE WHEN json_valid(json_text) THEN _scalar_at(json_text, _quoted_keys(json_path))
  WHEN json_valid(_without_surrogates(json_text))
  THEN _scalar_at(_without_surrogates(json_text), _quoted_keys(json_path)) END;
CREATE OR REPLACE MACRO json_format(json_value) AS CAST(json_value AS VARCHAR);
`;
