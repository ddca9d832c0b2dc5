// `npm run setup:dbt`: installs dbt for the tests, once, in a folder of its own.

import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PYTHON } from "../duckdb/duckdb-versions.ts";

/** Of dbt 1.12, the newest whose packages are all built: later ones download a part while they are installed. */
const DBT = "1.12.0";
const PACKAGES = [`dbt-core==${DBT}`, "dbt-duckdb==1.11.1", "duckdb==2.0.0"];
const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts"];

const folder = fileURLToPath(new URL("../../.dbt/", import.meta.url));

if (!existsSync(join(folder, `dbt_core-${DBT}.dist-info`))) install();
process.stdout.write(`${PACKAGES.join(", ")} are installed.\n`);

function install(): void {
  rmSync(folder, { recursive: true, force: true });
  // Only what is built: nothing of a package runs while it is installed.
  const args = [...PIP, "--only-binary=:all:", "--target", folder, ...PACKAGES];
  if (spawnSync(PYTHON, args, { stdio: "inherit" }).status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write(`pip could not install dbt: see above. It needs ${PYTHON} 3.10 to 3.13 with pip.\n`);
  process.exit(1);
}
