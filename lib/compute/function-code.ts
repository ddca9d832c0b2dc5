// The function's code: bundled from the sources by a clone, taken as it is from the installed package, which has no
// sources and whose users have no esbuild.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { SETTINGS_FILE } from "../../lambdas/sync/settings-file.ts";

/** Beside the built construct. A clone has no such folder. */
const BUILT = fileURLToPath(new URL("function/", import.meta.url));
const SOURCES = fileURLToPath(new URL("../../", import.meta.url));
const BUNDLER = new URL("bundle-function.ts", import.meta.url);

/** Synthesis cannot wait, and esbuild calls plugins only if it can: it runs in a process of its own. */
const BUNDLE =
  "const [module, folder] = process.argv.slice(1); await (await import(module)).bundleFunction(folder);";

/** @param settingsFile the text of the settings file beside the code */
export function functionCode(settingsFile: string): { readonly code: Code; readonly handler: string } {
  const isBuilt = existsSync(BUILT);
  const tryBundle = (folder: string): boolean => {
    if (isBuilt) cpSync(BUILT, folder, { recursive: true });
    else bundleInto(folder);
    writeFileSync(join(folder, SETTINGS_FILE), settingsFile);
    return true;
  };
  const code = Code.fromAsset(isBuilt ? BUILT : SOURCES, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // The CDK asks for one. It is not used, because the files are made here.
      image: DockerImage.fromRegistry("scratch"),
      // Neither is this. The CDK makes an asset once for each set of options, and would otherwise not see that the
      // settings of two deployments differ.
      environment: { SETTINGS: settingsFile },
      local: { tryBundle },
    },
  });
  return { code, handler: FUNCTION_HANDLER };
}

function bundleInto(folder: string): void {
  execFileSync(process.execPath, ["--input-type=module", "--eval", BUNDLE, BUNDLER.href, folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The file of the bundle that Lambda loads, and the handler in it. */
export const FUNCTION_FILE = "index.mjs";
const FUNCTION_HANDLER = "index.handler";
