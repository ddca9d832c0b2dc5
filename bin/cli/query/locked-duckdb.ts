// A DuckDB in memory that reaches the tables of one warehouse, and one file to write if need be: no other file, no
// network, no extension.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { escapePattern, LINES, literal, patternOf } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { VIEWS_FILE } from "../../../lambdas/job/storage/layout.ts";
import { tableFolders } from "./out-file.ts";

/** DuckDB would load these at the first sight of a function or a URL, over the network if need be. */
const NO_EXTENSIONS = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
};

interface Reachable {
  /** Of the warehouse. */
  readonly directory: string;
  /** Outside it. */
  readonly file?: string | undefined;
}

/** Lets `use` work with a connection. DuckDB compares real paths, so a link to a file elsewhere opens nothing. */
export async function withLockedDuckDB<T>(
  { directory, file }: Reachable,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const folders = (await tableFolders(directory)).map(withForwardSlashes);
  // The pattern names no file itself: each one that it finds must lie in one of the folders.
  const files = [join(directory, VIEWS_FILE), ...(file === undefined ? [] : [file])].map(withForwardSlashes);
  const allowed = { folders, files: [...files, `${patternOf(directory)}/${LINES}`] };
  const temporary = await privateFolder();
  const instance = await DuckDBInstance.create(":memory:", NO_EXTENSIONS);
  try {
    const connection = await instance.connect();
    try {
      await connection.run(locked(allowed, temporary));
      return await use(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

/** For what does not fit into memory, values of rows: only this user may read it. Undefined where none can be made. */
async function privateFolder(): Promise<string | undefined> {
  return mkdtemp(join(tmpdir(), "brand-events-sync-")).catch(() => undefined);
}

/**
 * DuckDB compares a file pattern with the folders as it is written, so each is named as in a pattern too. It
 * adds its folder for large sorts to them, hence one of our own.
 */
function locked(
  { folders, files }: { readonly folders: readonly string[]; readonly files: readonly string[] },
  temporary = "",
): string {
  const allowed = [...new Set([...folders, ...folders.map(escapePattern)])].map(literal);
  return `SET temp_directory = ${literal(temporary)};
SET allowed_directories = [${allowed.join(", ")}];
SET allowed_paths = [${files.map(literal).join(", ")}];
SET enable_external_access = false;
SET lock_configuration = true;`;
}

export const withForwardSlashes = (path: string): string => path.replaceAll(sep, "/");
