// `npm run setup:duckdb`: installs other versions of DuckDB for the tests, and what reads them in Python, once, each in a folder of
// its own.

import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import {
  DUCKDB_VERSIONS,
  type DuckdbVersion,
  FRAMES,
  FRAMES_FOLDER,
  folderOf,
  isInstalled,
  PROGRAM,
  PROGRAM_FOLDER,
  PROGRAM_VERSION,
  PYTHON,
} from "./duckdb-versions.ts";

const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts"];

for (const version of DUCKDB_VERSIONS) install(version);
process.stdout.write(`DuckDB ${DUCKDB_VERSIONS.join(", ")} are installed.\n`);
installProgram();
installFrames();

function install(version: DuckdbVersion): void {
  if (isInstalled(version) || pip(folderOf(version), "--no-deps", `duckdb==${version}`)) return;
  process.stderr.write(
    `pip could not install DuckDB ${version}: see above. It needs ${PYTHON} 3.10 to 3.13 with pip.\n`,
  );
  process.exit(1);
}

/** Not built for every computer that has the versions. */
function installProgram(): void {
  if (existsSync(PROGRAM) || pip(PROGRAM_FOLDER, "--no-deps", `duckdb-cli==${PROGRAM_VERSION}`)) return;
  process.stderr.write("pip could not install DuckDB's command line: see above. Its test is skipped.\n");
}

/** 600 MB, not built for every computer that has the versions. */
function installFrames(): void {
  if (existsSync(FRAMES_FOLDER) || pip(FRAMES_FOLDER, ...FRAMES)) return;
  process.stderr.write("pip could not install pandas and polars: see above. Their test is skipped.\n");
}

function pip(folder: string, ...names: readonly string[]): boolean {
  // Only what is built: nothing of the package runs while it is installed.
  const args = [...PIP, "--only-binary=:all:", "--target", folder, ...names];
  if (spawnSync(PYTHON, args, { stdio: "inherit" }).status === 0) return true;
  rmSync(folder, { recursive: true, force: true });
  return false;
}
