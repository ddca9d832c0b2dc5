// `npm run setup:duckdb`: installs other versions of DuckDB for the tests, once, each in a folder of its own.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { DUCKDB_VERSIONS, type DuckdbVersion, folderOf, isInstalled, PYTHON } from "./duckdb-versions.ts";

const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];

for (const version of DUCKDB_VERSIONS) install(version);
process.stdout.write(`DuckDB ${DUCKDB_VERSIONS.join(", ")} are installed.\n`);

function install(version: DuckdbVersion): void {
  if (isInstalled(version)) return;
  const folder = folderOf(version);
  // Only what is built: nothing of the package runs while it is installed.
  const args = [...PIP, "--only-binary=:all:", "--target", folder, `duckdb==${version}`];
  if (spawnSync(PYTHON, args, { stdio: "inherit" }).status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write(
    `pip could not install DuckDB ${version}: see above. It needs ${PYTHON} 3.10 to 3.13 with pip.\n`,
  );
  process.exit(1);
}
