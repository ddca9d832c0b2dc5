// Other versions of DuckDB, as Python's package of it: the oldest that the pages promise, the newest 1.x, and 2.0, which
// Node.js has no package of.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const DUCKDB_VERSIONS = ["1.3.0", "1.5.6", "2.0.0"] as const;

export type DuckdbVersion = (typeof DUCKDB_VERSIONS)[number];

export const PYTHON = process.platform === "win32" ? "python" : "python3";

const DIRECTORY = fileURLToPath(new URL("../../.duckdb/", import.meta.url));

/** Where `npm run setup:duckdb` installs it. */
export const folderOf = (version: DuckdbVersion): string => join(DIRECTORY, version);

export const isInstalled = (version: DuckdbVersion): boolean => existsSync(join(folderOf(version), "duckdb"));

/** DuckDB's own command line, which is a package of its own. */
export const PROGRAM_VERSION = "1.5.6";
export const PROGRAM_FOLDER: string = join(DIRECTORY, `program-${PROGRAM_VERSION}`);
export const PROGRAM: string = join(PROGRAM_FOLDER, "duckdb_cli", "duckdb");

/** What the blocks of Python on the pages import. */
export const FRAMES = ["duckdb==2.0.0", "pandas==3.1.1", "polars==2.1.0", "pyarrow==26.0.1"] as const;
export const FRAMES_FOLDER: string = join(DIRECTORY, "frames");

/** Tests with these versions are skipped where one is missing, and fail with `CI=true`. */
export const isSkipped = !DUCKDB_VERSIONS.every(isInstalled) && process.env["CI"] !== "true";

interface RunOptions {
  readonly cwd: string;
  /** A file that is only read; without it a database in memory. */
  readonly database?: string;
}

/** The rows of each statement in this folder's DuckDB, values as Python writes them; null stays null. Throws what it says. */
export function runIn(
  folder: string,
  statements: readonly string[],
  { cwd, database }: RunOptions,
): readonly (readonly (readonly (string | null)[])[])[] {
  return runPython("run-sql.py", [folder, ...(database === undefined ? [] : [database])], statements, cwd);
}

/** A statement, and the rows of the frame that it makes. */
export type Frame = readonly [statement: string, rows: readonly (readonly (string | null)[])[]];

/** The frames of each block. Throws what Python says. */
export function runBlocks(blocks: readonly string[], cwd: string): readonly (readonly Frame[])[] {
  return runPython("run-blocks.py", [FRAMES_FOLDER], blocks, cwd);
}

function runPython<T>(program: string, args: readonly string[], input: readonly string[], cwd: string): T {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { status, stdout, stderr, error } = spawnSync(PYTHON, [path, ...args], {
    cwd,
    input: JSON.stringify(input),
    encoding: "utf8",
    env: { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} ${args[0]}: ${error?.message ?? stderr}`);
  return JSON.parse(stdout);
}
