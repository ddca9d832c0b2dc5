// How texts are written in DuckDB's SQL.

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** In a pattern of DuckDB a bracket expression is the only way to write a special character itself. */
export const escapePattern = (path: string): string => path.replaceAll(/[[*?]/g, (special) => `[${special}]`);
