// The command line as JavaScript. It holds what it imports, but for the packages that are installed beside it: those
// with native code.

import { rm } from "node:fs/promises";
import { build, type Plugin } from "esbuild";

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
  /** How it gets Node.js's own modules. */
  readonly ownModules: Plugin;
}

/** Returns the files that it was built from, as paths from `root`. */
export async function buildProgram(options: ProgramOptions): Promise<readonly string[]> {
  const { name, root, folder, external, node, ownModules } = options;
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
    plugins: [ownModules],
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  return Object.keys(metafile.inputs);
}
