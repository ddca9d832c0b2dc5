// The saved queries: the files in `queries/`, each with its title and description in the first two lines.

import { readdirSync, readFileSync } from "node:fs";

const DIRECTORY = new URL("queries/", import.meta.url);

export interface SavedQuery {
  readonly title: string;
  readonly description: string;
  /** Athena's SQL, with its comments: the console's editor shows them. */
  readonly sql: string;
}

/** In the order of the file names. `{{account}}` is replaced by the account. */
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
    throw new Error(
      `lib/data/queries/${file}: expected "-- Title" in the first line and "-- Description" in the second`,
    );
  }
  return { title, description, sql };
}
