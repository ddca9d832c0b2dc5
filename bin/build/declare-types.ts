// The type declarations of `EventSync`: what the compiler says, for the files that an app sees.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface TypesOptions {
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
