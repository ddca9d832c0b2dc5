// `npm run build`: the command line as JavaScript in `dist/`. It holds what it imports, but for the packages that are
// installed beside it: those with native code.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { thirdPartyLicenses } from "./build/third-party-licenses.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

/** CommonJS packages ask for Node.js's own modules with it. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

await rm(DIST, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { [packageJson.name]: "bin/sync.ts" },
  outdir: DIST,
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  // What a command does not use stays in files that it does not load.
  splitting: true,
  format: "esm",
  platform: "node",
  target: packageJson.engines.node.replace(">=", "node"),
  external: Object.keys(packageJson.dependencies),
  banner: { js: REQUIRE },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

await writeFile(
  join(DIST, "third-party-licenses.txt"),
  thirdPartyLicenses(ROOT, Object.keys(metafile.inputs)),
);
