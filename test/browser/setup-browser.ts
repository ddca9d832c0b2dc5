// `npm run setup:browser`: installs Chromium for the tests in a browser, where the system's package manager can.

import { spawnSync } from "node:child_process";
import { installedChromium } from "./installed-chromium.ts";

const APT = "apt-get";
const INSTALL = [["update"], ["install", "-y", "--no-install-recommends", "chromium"]] as const;

const BY_HAND =
  "No Chromium is installed, and this program installs it only for root on Debian. Install Chromium or Chrome, so that it is in PATH, or run as root: apt-get update && apt-get install -y --no-install-recommends chromium";

const found = installedChromium();
if (found !== undefined) process.stdout.write(`The tests use ${found}.\n`);
else if (process.platform !== "linux" || process.getuid?.() !== 0 || !hasAptGet()) fail(BY_HAND);
else {
  process.stdout.write("Installs Chromium from the packages of this system.\n");
  for (const args of INSTALL) {
    if (spawnSync(APT, args, { stdio: "inherit" }).status !== 0) fail(`${APT} failed: see above.`);
  }
  if (installedChromium() === undefined) fail(BY_HAND);
}

function hasAptGet(): boolean {
  return spawnSync(APT, ["--version"], { stdio: "ignore" }).status === 0;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
