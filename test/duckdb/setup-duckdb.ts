// `npm run setup:duckdb`: installs other versions of DuckDB for the tests, once, each in a folder of its own.

import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import {
  DUCKDB_VERSIONS,
  type DuckdbVersion,
  folderOf,
  isInstalled,
  PROGRAM,
  PROGRAM_FOLDER,
  PROGRAM_VERSION,
  PYTHON,
} from "./duckdb-versions.ts";

const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];

for (const version of DUCKDB_VERSIONS) install(version);
process.stdout.write(`DuckDB ${DUCKDB_VERSIONS.join(", ")} are installed.\n`);
installProgram();

function install(version: DuckdbVersion): void {
  if (isInstalled(version) || pip(folderOf(version), `duckdb==${version}`)) return;
  process.stderr.write(
    `pip could not install DuckDB ${version}: see above. It needs ${PYTHON} 3.10 to 3.13 with pip.\n`,
  );
  process.exit(1);
}

/** Not built for every computer that has the versions. */
function installProgram(): void {
  if (existsSync(PROGRAM) || pip(PROGRAM_FOLDER, `duckdb-cli==${PROGRAM_VERSION}`)) return;
  process.stderr.write("pip could not install DuckDB's command line: see above. Its test is skipped.\n");
}

function pip(folder: string, name: string): boolean {
  // Only what is built: nothing of the package runs while it is installed.
  const args = [...PIP, "--only-binary=:all:", "--target", folder, name];
  if (spawnSync(PYTHON, args, { stdio: "inherit" }).status === 0) return true;
  rmSync(folder, { recursive: true, force: true });
  return false;
}
