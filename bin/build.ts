// `npm run build`: what the package holds, in `dist/`. The command line and `EventSync` as JavaScript, with the licences
// of what they hold.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import editorSchema from "../brand-events.schema.json" with { type: "json" };
import { deploymentSettingsSchema } from "../lambdas/job/settings-file/settings-schema.ts";
import { billOfMaterials, heldPackages, SBOM_FILE } from "../lib/compute/bill-of-materials.ts";
import { buildConstruct, buildProgram, declareTypes } from "./build/build-program.ts";
import { settingsDeclaration } from "./build/settings-declaration.ts";
import { thirdPartyLicenses } from "./build/third-party-licenses.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");
const CDK = join(DIST, "cdk");

const built = [buildProgram(DIST), ...buildConstruct(CDK)];
const settings = z.toJSONSchema(deploymentSettingsSchema, {
  io: "input",
  target: "draft-7",
  override: ({ jsonSchema, path }) => Object.assign(jsonSchema, explained(path)),
});
await declareTypes({
  root: ROOT,
  folder: CDK,
  project: "lib/tsconfig.types.json",
  entry: "event-sync",
  files: ["event-sync-props", "settings/event-sync-settings"],
  written: {
    "settings/event-sync-settings": settingsDeclaration(
      "EventSyncSettings",
      "The settings of a deployment, as in cdk.json under context.eventSync.",
      settings,
    ),
  },
});

await writeFile(join(DIST, "third-party-licenses.txt"), thirdPartyLicenses(ROOT, heldPackages(built)));
await writeFile(join(DIST, SBOM_FILE), billOfMaterials("The package", heldPackages(built)));

/** What the schema for editors says of a key. */
function explained(path: readonly (string | number)[]): object {
  let found: unknown = editorSchema;
  for (const key of path)
    found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined;
  if (typeof found !== "object" || found === null) return {};
  const { description, default: fallback }: { description?: unknown; default?: unknown } = found;
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}
