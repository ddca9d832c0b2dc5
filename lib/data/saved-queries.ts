// An analyst's first day: the queries that lie in `queries/`, each with its title and description on top.

import { readdirSync, readFileSync } from "node:fs";

const DIRECTORY = new URL("queries/", import.meta.url);

export interface SavedQuery {
  readonly title: string;
  readonly description: string;
  /** Athena's SQL. Its comments stay: they are what the console's editor shows. */
  readonly sql: string;
}

/** In the order of their files' names. `{{account}}` stands for the account that they ask about. */
export function savedQueries(account: string): readonly SavedQuery[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .map((file) => parse(file, readFileSync(new URL(file, DIRECTORY), "utf8"), account));
}

function parse(file: string, content: string, account: string): SavedQuery {
  const sql = content.trim().replaceAll("{{account}}", account);
  const [, title, description] = /^-- (.+)\n-- (.+)\n/.exec(sql) ?? [];
  if (title === undefined || description === undefined) {
    throw new Error(`lib/queries/${file}: expected a line "-- Title" and a line "-- Description" on top`);
  }
  return { title, description, sql };
}
