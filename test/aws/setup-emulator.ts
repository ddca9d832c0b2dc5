// `npm run setup:emulator`: installs the emulator of AWS for the tests, once, in its own Python environment.

import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { EMULATOR_DIRECTORY, INSTALLED, isInstalled, PYTHON, REQUIREMENTS } from "./emulator-process.ts";

const MISSING =
  "python3 is missing or too old: install Python 3.11 or newer (with its venv module) and start again.";

if (isInstalled()) {
  process.stdout.write(`The emulator is installed in ${EMULATOR_DIRECTORY}.\n`);
} else {
  rmSync(EMULATOR_DIRECTORY, { recursive: true, force: true });
  const systemPython = process.platform === "win32" ? "python" : "python3";
  run(systemPython, ["-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))"], MISSING);
  process.stdout.write(`Installs the emulator in ${EMULATOR_DIRECTORY}: about a minute and 320 MB.\n`);
  run(systemPython, ["-m", "venv", join(EMULATOR_DIRECTORY, "venv")], MISSING);
  const pip = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--require-hashes",
    // A package that has to be built would download build tools without a hash.
    "--only-binary=:all:",
    "--requirement",
    REQUIREMENTS,
  ];
  run(PYTHON, pip, "pip could not install the emulator: see above.");
  copyFileSync(REQUIREMENTS, INSTALLED);
}

function run(command: string, args: readonly string[], failure: string): void {
  if (spawnSync(command, args, { stdio: "inherit" }).status === 0) return;
  process.stderr.write(`${failure}\n`);
  process.exit(1);
}
