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
  /** How the function is bundled, and the name of its file. */
  readonly function: {
    readonly entry: string;
    readonly target: string;
    readonly mainFields: readonly string[];
    readonly banner: string;
    readonly http: string;
    readonly file: string;
  };
}

/** Returns the files that both were built from, as paths from `root`. */
export async function buildConstruct(options: ConstructOptions): Promise<readonly string[]> {
  const { root, folder, external, node, function: ofFunction } = options;
  await rm(folder, { recursive: true, force: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
    metafile: true,
    logLevel: "error",
  } as const;
  const construct = await build({
    ...common,
    entryPoints: ["lib/event-sync.ts"],
    outfile: join(folder, "event-sync.js"),
    target: `node${node}`,
    external: [...external],
    legalComments: "none",
  });
  const bundle = await build({
    ...common,
    entryPoints: [ofFunction.entry],
    outfile: join(folder, "function", ofFunction.file),
    target: ofFunction.target,
    mainFields: [...ofFunction.mainFields],
    banner: { js: ofFunction.banner },
    minifySyntax: true,
    alias: { "node:http": join(root, ofFunction.http) },
  });
  await cp(join(root, "lib/data/queries"), join(folder, "queries"), { recursive: true });
  return [construct, bundle].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
