// `npm run build`: what the package holds, in `dist/`. The command line and `EventSync` as JavaScript, with the licences
// of what they hold.

import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { billOfMaterials, heldPackages, SBOM_FILE } from "../lib/compute/bundle-function.ts";
import { buildConstruct, buildProgram } from "./build-program.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

/** Licences that some packages name without having their text: this program's own, and one that asks for nothing. */
const WITHOUT_TEXT: ReadonlyMap<unknown, string> = new Map([
  ["Apache-2.0", "See LICENSE.\n"],
  ["MIT-0", "See https://spdx.org/licenses/MIT-0.html. It does not ask for its text to be repeated.\n"],
]);

const built = [buildProgram(DIST), ...(await buildConstruct(join(DIST, "cdk")))];

await writeFile(join(DIST, "third-party-licenses.txt"), thirdPartyLicenses(heldPackages(built)));
await writeFile(join(DIST, SBOM_FILE), billOfMaterials("The package", heldPackages(built)));

/** `folders` are those of the packages, as paths from the root. Throws for a package that has no licence. */
function thirdPartyLicenses(folders: readonly string[]): string {
  const packages = folders.map((folder) => licensed(join(ROOT, folder)));
  const byText = Map.groupBy(
    packages.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ({ text }) => text,
  );
  const sections = [...byText].map(([text, those]) =>
    [...those.map(({ name, license }) => `${name}: ${license}`), "", text].join("\n"),
  );
  const rule = `\n${"-".repeat(80)}\n\n`;
  return ["The built code holds code of these packages.\n", ...sections].join(rule);
}

interface Licensed {
  /** The package's name with its version. */
  readonly name: string;
  readonly license: string;
  readonly text: string;
}

function licensed(folder: string): Licensed {
  const { name, version, license }: Record<string, unknown> = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.\w+)?$/i.test(one));
  const text = file === undefined ? WITHOUT_TEXT.get(license) : readFileSync(join(folder, file), "utf8");
  if (text === undefined) throw new Error(`${name} has no text of its licence: ${license}`);
  return { name: `${name} ${version}`, license: String(license), text };
}
