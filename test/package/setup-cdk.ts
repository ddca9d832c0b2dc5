// `npm run setup:cdk`: installs what the CDK apps of others have for the tests, once, in a folder of its own.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CDK_FOLDER, CDK_MANIFEST, isInstalled } from "./consumer-app.ts";

if (!isInstalled()) install();
process.stdout.write(`${CDK_MANIFEST} is installed.\n`);

function install(): void {
  rmSync(CDK_FOLDER, { recursive: true, force: true });
  mkdirSync(CDK_FOLDER);
  writeFileSync(join(CDK_FOLDER, "package.json"), CDK_MANIFEST);
  // Nothing of a package runs while it is installed.
  const args = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  // On Windows npm is a script, which a shell starts.
  const options = { cwd: CDK_FOLDER, stdio: "inherit", shell: process.platform === "win32" } as const;
  if (spawnSync("npm", args, options).status === 0) return;
  rmSync(CDK_FOLDER, { recursive: true, force: true });
  process.stderr.write("npm could not install what the tests of CDK apps need: see above.\n");
  process.exit(1);
}
