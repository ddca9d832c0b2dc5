// Bundles the function from its sources: at synthesis in a clone, by `npm run build` for the package.

import { parse } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What Lambda loads. */
export const FUNCTION_FILE = "index.mjs";

/** Of everything that is built. */
export const BUILT = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  // Some packages are CommonJS, and ask for modules of Node.js.
  banner: {
    js: 'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);',
  },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
} satisfies BuildOptions;

/**
 * Only the syntax is minified: names and lines stay, so that a stack trace in the log reads like the source. Returns what
 * each file was built from.
 */
export function bundleFunction(folder: string): Metafile {
  const { name, ext } = parse(FUNCTION_FILE);
  const { metafile } = buildSync({
    ...BUILT,
    entryPoints: { [name]: "lambdas/sync/handler.ts" },
    outdir: folder,
    outExtension: { ".js": ext },
    chunkNames: "chunks/[name]-[hash]",
    // What a login, or the SDK, loads when it is used stays in files of its own: a cold start compiles less.
    splitting: true,
    target: "node24",
    mainFields: ["module", "main"],
    minifySyntax: true,
  });
  return metafile;
}
