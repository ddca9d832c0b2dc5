// The database file of the views, made by the line of docs/query.md with any DuckDB of Python.

import { renameSync } from "node:fs";
import { join } from "node:path";
import { codeBlocks } from "../docs/markdown.ts";
import { runIn } from "./duckdb-versions.ts";

/** As the line is read: what DuckDB runs, and the rename. Returns the name of the file. */
export function makeDatabase(folder: string, views: string, cwd: string): string {
  const lines = codeBlocks("query.md").flatMap(({ code }) => code.split("\n"));
  const parts = lines.map((line) =>
    /^duckdb -cmd "(ATTACH .*?)" -c "\.read .*" && mv (\S+) (\S+)$/.exec(line),
  );
  const [, attach = "", made = "", file = ""] = parts.find(Boolean) ?? [];
  runIn(folder, [attach, views], { cwd });
  renameSync(join(cwd, made), join(cwd, file));
  return file;
}
