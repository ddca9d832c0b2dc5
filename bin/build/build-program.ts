// The command line and `EventSync` as JavaScript. They hold what they import, but for the packages that are installed
// beside them: those with native code, and those that a CDK app brings.

import { execFile } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/**
 * The type declarations of `EventSync`: what the compiler says, for what an app sees.
 * @param settings the declaration of its settings, which is written instead of the compiler's
 */
export async function declareTypes(folder: string, settings: string): Promise<void> {
  const root = BUILT.absWorkingDir;
  const made = await mkdtemp(join(tmpdir(), "brand-events-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const project = join(root, "lib/tsconfig.types.json");
    await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", made]);
    const eventSync = await readFile(join(made, "lib/event-sync.d.ts"), "utf8");
    const declarations = {
      // The compilers of some apps do not find `./file.ts` in a declaration.
      "event-sync": eventSync.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'),
      "settings/settings": settings,
      index: 'export * from "./event-sync.js";\nexport type * from "./settings/settings.js";\n',
    };
    await mkdir(join(folder, "settings"), { recursive: true });
    for (const [name, text] of Object.entries(declarations)) {
      await writeFile(join(folder, `${name}.d.ts`), text);
    }
  } finally {
    await rm(made, { recursive: true });
  }
}
