// What the CDK apps of others have that this project has not: the oldest `aws-cdk-lib` that is promised, Jest as `cdk init`
// sets it up, and the last TypeScript with `moduleResolution` `node10`.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const OLDEST_CDK = "2.224.0";

/** The `package.json` of the folder. */
export const CDK_MANIFEST = JSON.stringify({
  private: true,
  dependencies: {
    "aws-cdk-lib": OLDEST_CDK,
    constructs: "10.4.3",
    typescript: "5.9.3",
    jest: "30.5.2",
    "@types/jest": "30.0.0",
    "@swc/core": "1.16.22",
    "@swc/jest": "0.2.39",
  },
});

/** Where `npm run setup:cdk` installs them. */
export const CDK_FOLDER = fileURLToPath(new URL("../../.cdk/", import.meta.url));

export const CDK_MODULES = join(CDK_FOLDER, "node_modules");

export function isInstalled(): boolean {
  // The file that npm writes last.
  if (!existsSync(join(CDK_MODULES, ".package-lock.json"))) return false;
  return readFileSync(join(CDK_FOLDER, "package.json"), "utf8") === CDK_MANIFEST;
}
