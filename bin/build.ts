// `npm run build`: what the package holds, in `dist/`. The command line and `EventSync` as JavaScript, with the licences
// of what they hold.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deploymentSettingsSchema } from "../lambdas/job/settings-file/settings-schema.ts";
import { billOfMaterials, heldPackages, SBOM_FILE } from "../lib/compute/bill-of-materials.ts";
import { buildConstruct, buildProgram, declareTypes } from "./build/build-program.ts";
import { settingsDeclaration, settingsJsonSchema } from "./build/settings-declaration.ts";
import { thirdPartyLicenses } from "./build/third-party-licenses.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");
const CDK = join(DIST, "cdk");

const built = [buildProgram(DIST), ...buildConstruct(CDK)];
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
      settingsJsonSchema(deploymentSettingsSchema),
    ),
  },
});

await writeFile(join(DIST, "third-party-licenses.txt"), thirdPartyLicenses(ROOT, heldPackages(built)));
await writeFile(join(DIST, SBOM_FILE), billOfMaterials("The package", heldPackages(built)));
