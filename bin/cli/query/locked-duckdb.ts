// A DuckDB in memory that reaches the files of one warehouse, and one file to write if need be: no other file, no
// network, no extension.

import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { escapePattern, literal } from "../../../lambdas/job/catalog/duckdb/duckdb-text.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import { warehouseFolders } from "./warehouse-folders.ts";

/** DuckDB would load these at the first sight of a function or a URL, over the network if need be. */
const NO_EXTENSIONS = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
};

export interface Reachable {
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
  const folders = (await warehouseFolders(directory)).map(withForwardSlashes);
  const instance = await DuckDBInstance.create(":memory:", NO_EXTENSIONS);
  try {
    const connection = await instance.connect();
    try {
      await connection.run(locked(folders, file === undefined ? [] : [withForwardSlashes(file)]));
      return await use(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/**
 * DuckDB compares a file pattern with the folders as it is written, so each is named as in a pattern too. It
 * adds its folder for large sorts to them, hence one of our own; it makes it when it needs it and deletes it.
 */
function locked(folders: readonly string[], files: readonly string[]): string {
  const allowed = [...new Set([...folders, ...folders.map(escapePattern)])].map(literal);
  const temporary = join(tmpdir(), `brand-events-sync-${systemRandom.token()}`);
  return `SET temp_directory = ${literal(temporary)};
SET allowed_directories = [${allowed.join(", ")}];
SET allowed_paths = [${files.map(literal).join(", ")}];
SET enable_external_access = false;
SET lock_configuration = true;`;
}

export const withForwardSlashes = (path: string): string => path.replaceAll(sep, "/");
