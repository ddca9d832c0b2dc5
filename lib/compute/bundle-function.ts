// Bundles the function from its sources: at synthesis in a clone, by `npm run build` for the package.

import { parse } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { credentialsOfLambda } from "./credentials-of-lambda.ts";
import { FUNCTION_FILE } from "./function-code.ts";
import { ownModulesOfNode } from "./own-modules-of-node.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Only the syntax is minified: names and lines stay, so that a stack trace in the log reads like the source. Returns the
 * files that it was built from, as paths from the root of the project.
 */
export async function bundleFunction(folder: string): Promise<readonly string[]> {
  const { name, ext } = parse(FUNCTION_FILE);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { [name]: "lambdas/sync/handler.ts" },
    outdir: folder,
    outExtension: { ".js": ext },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    // What a login, or the SDK, loads when it is used stays in files of its own: a cold start compiles less.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    mainFields: ["module", "main"],
    minifySyntax: true,
    plugins: [ownModulesOfNode(), credentialsOfLambda()],
    metafile: true,
    logLevel: "warning",
  });
  return Object.keys(metafile.inputs);
}
