// `EventSync` for CDK apps: JavaScript, and beside it what it reads, the function and the saved queries.

import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

export interface ConstructOptions {
  /** The folder of this project. */
  readonly root: string;
  /** Replaced as a whole. */
  readonly folder: string;
  /** The packages that the app brings. */
  readonly external: readonly string[];
  /** The lowest version of Node.js that it runs on. */
  readonly node: string;
  /** Bundles the function into a folder, and returns the files that it was built from. */
  readonly bundleFunction: (folder: string) => Promise<readonly string[]>;
}

/** Returns the files that both were built from, as paths from `root`. */
export async function buildConstruct(options: ConstructOptions): Promise<readonly string[]> {
  const { root, folder, external, node, bundleFunction } = options;
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["lib/event-sync.ts"],
    outfile: join(folder, "event-sync.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: `node${node}`,
    external: [...external],
    legalComments: "none",
    metafile: true,
    logLevel: "error",
  });
  const ofFunction = await bundleFunction(join(folder, "function"));
  await cp(join(root, "lib/data/queries"), join(folder, "queries"), { recursive: true });
  return [...Object.keys(metafile.inputs), ...ofFunction];
}
