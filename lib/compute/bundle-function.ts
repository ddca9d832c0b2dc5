// Bundles the function from its sources: at synthesis in a clone, by `npm run build` for the package.

import { readFileSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What Lambda loads. */
const FUNCTION_FILE = "index.mjs";

/** The options of everything that is built. */
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

/** Beside the code. */
export const SBOM_FILE = "sbom.cdx.json";

const lockSchema = z.object({
  name: z.string(),
  version: z.string(),
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      integrity: z.string().optional(),
    }),
  ),
});

/** The folders of the packages whose code is in a build, as in the lock file. */
export function heldPackages(built: readonly Metafile[]): readonly string[] {
  const held = built
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
  // A linked `node_modules` lies elsewhere.
  const folders = held.flatMap(
    (path) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  return [...new Set(folders)].toSorted();
}

/** @param what is described @param folders of the packages that it holds */
export function billOfMaterials(what: string, folders: readonly string[]): string {
  const text = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");
  const { name, version, packages } = lockSchema.parse(JSON.parse(text));
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      lifecycles: [{ phase: "build" }],
      component: {
        ...component("application", name, version, packages[""]?.license),
        description: `${what}: what its built code holds`,
      },
    },
    components: folders.map((folder) => {
      const { version, license, integrity } = packages[folder] ?? {};
      if (version === undefined || integrity === undefined)
        throw new Error(`package-lock.json has no version or no hash of ${folder}: install again`);
      const [, nameOfFolder = ""] = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(folder) ?? [];
      const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
      return {
        ...component("library", nameOfFolder, version, license),
        hashes: [{ alg: "SHA-512", content }],
      };
    }),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function component(type: string, name: string, version: string, license: string | undefined): object {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const licenses = license === undefined ? {} : { licenses: [{ license: { id: license } }] };
  return { type, "bom-ref": purl, name, version, purl, ...licenses };
}
