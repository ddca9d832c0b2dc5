// The command line and `EventSync` as JavaScript. They hold what they import, but for the packages that are installed
// beside them: those with native code, and those that a CDK app brings.

import { execFile } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildSync, type Metafile } from "esbuild";
import { BUILT, bundleFunction } from "../../lib/compute/bundle-function.ts";
import packageJson from "../../package.json" with { type: "json" };

/** The lowest version of Node.js that the package runs on. */
const TARGET = `node${packageJson.engines.node.replace(">=", "")}`;

/** @param folder replaced as a whole */
export function buildProgram(folder: string): Metafile {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = buildSync({
    ...BUILT,
    entryPoints: { [packageJson.name]: "bin/sync.ts" },
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    // What a command does not use stays in files that it does not load.
    splitting: true,
    target: TARGET,
    external: Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies }),
  });
  return metafile;
}

/**
 * `EventSync` for CDK apps: JavaScript, and beside it what it reads, the function and the saved queries.
 * @param folder replaced as a whole
 */
export function buildConstruct(folder: string): readonly Metafile[] {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = buildSync({
    ...BUILT,
    entryPoints: ["lib/event-sync.ts"],
    outfile: join(folder, "event-sync.js"),
    target: TARGET,
    external: Object.keys(packageJson.peerDependencies),
  });
  cpSync(join(BUILT.absWorkingDir, "lib/data/queries"), join(folder, "queries"), { recursive: true });
  return [metafile, bundleFunction(join(folder, "function"))];
}

/** The type declarations of `EventSync`: what the compiler says, for the files that an app sees. */
interface TypesOptions {
  /** The folder of this project. */
  readonly root: string;
  readonly folder: string;
  /** The configuration of the compiler, as a path from `root`. */
  readonly project: string;
  /** What the app imports, as a path from `lib`, without an ending. */
  readonly entry: string;
  /** The files with types for it. */
  readonly files: readonly string[];
  /** Declarations that are written instead of the compiler's. */
  readonly written: Readonly<Record<string, string>>;
}

export async function declareTypes({
  root,
  folder,
  project,
  entry,
  files,
  written,
}: TypesOptions): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), "brand-events-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    await promisify(execFile)(process.execPath, [compiler, "-p", join(root, project), "--outDir", made]);
    for (const file of [entry, ...files]) {
      const text = written[file] ?? (await readFile(join(made, "lib", `${file}.d.ts`), "utf8"));
      const path = join(folder, `${file}.d.ts`);
      await mkdir(dirname(path), { recursive: true });
      // The compilers of some apps do not find `./file.ts` in a declaration.
      await writeFile(path, text.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
    }
    const all = files.map((file) => `export type * from "./${file}.js";\n`);
    await writeFile(join(folder, "index.d.ts"), [`export * from "./${entry}.js";\n`, ...all].join(""));
  } finally {
    await rm(made, { recursive: true });
  }
}
