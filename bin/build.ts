// `npm run build`: the command line as JavaScript in `dist/`, with the licences of what it holds.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { buildProgram } from "./build/build-program.ts";
import { thirdPartyLicenses } from "./build/third-party-licenses.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

const inputs = await buildProgram({
  name: packageJson.name,
  root: ROOT,
  folder: DIST,
  external: Object.keys(packageJson.dependencies),
  node: packageJson.engines.node.replace(">=", ""),
});

await writeFile(join(DIST, "third-party-licenses.txt"), thirdPartyLicenses(ROOT, inputs));
