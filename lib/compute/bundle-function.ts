// Bundles the function from its sources: at synthesis in a clone, by `npm run build` for the package.

import { writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import { billOfMaterials, heldPackages, SBOM_FILE } from "./bill-of-materials.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What Lambda loads. */
export const FUNCTION_FILE = "index.mjs";

/** Of everything that is built. */
export const BUILT = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  // The modules of a package that are imported by name, of which a build leaves out what is not used.
  mainFields: ["module", "main"],
  // Names stay, and lines are short: a stack trace reads like the source, and Node.js prints no line of megabytes.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  // Some packages are CommonJS, and ask for modules of Node.js.
  banner: {
    js: 'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);',
  },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
} satisfies BuildOptions;

/** The code, and beside it what it holds of others. Returns what each file was built from. */
export function bundleFunction(folder: string): Metafile {
  const { name, ext } = parse(FUNCTION_FILE);
  const { metafile } = buildSync({
    ...BUILT,
    entryPoints: { [name]: "lambdas/sync/handler.ts" },
    outdir: folder,
    outExtension: { ".js": ext },
    chunkNames: "chunks/[name]-[hash]",
    // What the SDK loads when it is used stays in files of its own: a cold start compiles less.
    splitting: true,
    target: "node24",
  });
  writeFileSync(join(folder, SBOM_FILE), billOfMaterials("The function", heldPackages([metafile])));
  return metafile;
}
