// The function's code: bundled from the sources by a clone, taken as it is from the installed package, which has no
// sources and whose users have no esbuild.

import { cpSync, existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { FUNCTION_FILE_NAME } from "../../lambdas/sync/environment.ts";

/** Beside the built construct. A clone has no such folder. */
const BUILT = fileURLToPath(new URL("function/", import.meta.url));
const SOURCES = fileURLToPath(new URL("../../", import.meta.url));

/** @param settingsFile the text of the settings file beside the code */
export function functionCode(settingsFile: string): { readonly code: Code; readonly handler: string } {
  const isBuilt = existsSync(BUILT);
  const tryBundle = (folder: string): boolean => {
    if (isBuilt) cpSync(BUILT, folder, { recursive: true });
    else bundleInto(folder);
    writeFileSync(join(folder, FUNCTION_FILE_NAME), settingsFile);
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

/** Loads esbuild, which an app with the installed package may not have. Synthesis cannot wait for an import. */
function bundleInto(folder: string): void {
  const bundler: typeof import("./bundle-function.ts") = createRequire(import.meta.url)(
    "./bundle-function.ts",
  );
  bundler.bundleFunction(folder);
}

/** The handler in the file of the bundle that Lambda loads. */
const FUNCTION_HANDLER = "index.handler";
