// What built code holds of others, as a list for scanners (CycloneDX): from what esbuild says that it holds, and what
// the lock file says of that. Without a time, so that two builds are equal.

import { readFileSync } from "node:fs";
import type { Metafile } from "esbuild";
import * as z from "zod";

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
