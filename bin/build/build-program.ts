// The command line as JavaScript. It holds what it imports, but for the packages that are installed beside it: those
// with native code.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

export interface ProgramOptions {
  /** The name of the program, and of its file. */
  readonly name: string;
  /** The folder of this project. */
  readonly root: string;
  /** Replaced as a whole. */
  readonly folder: string;
  /** The packages that stay outside. */
  readonly external: readonly string[];
  /** The lowest version of Node.js that it runs on. */
  readonly node: string;
}

/** CommonJS packages ask for Node.js's own modules with it. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

/** Returns the files that it was built from, as paths from `root`. */
export async function buildProgram(options: ProgramOptions): Promise<readonly string[]> {
  const { name, root, folder, external, node } = options;
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [name]: "bin/sync.ts" },
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    // What a command does not use stays in files that it does not load.
    splitting: true,
    format: "esm",
    platform: "node",
    target: `node${node}`,
    external: [...external],
    banner: { js: REQUIRE },
    alias: { "node:http": join(root, "lambdas/job/network/node-http.cjs") },
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  return Object.keys(metafile.inputs);
}
