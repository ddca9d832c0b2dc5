// Where the construct finds what it reads beside its code: the saved queries, and the function.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** `lib` in a clone, the built construct's folder in the package; nothing where a bundler has made an ES module of that. */
export const ASSETS: string = import.meta.dirname;

/** Below that folder: files, each with its title and description in the first two lines. */
export const QUERIES = "data/queries";

/** How the command line is started where the app is: in a clone there is its source, and in an app the package. */
export const PROGRAM: string = existsSync(join(ASSETS, "assets.ts"))
  ? "npm run sync --"
  : "npx brand-events-sync";

/** Throws where the code was moved without them: a bundler takes only the code. */
export function mustHaveAssets(): void {
  if (existsSync(join(ASSETS, QUERIES))) return;
  throw new Error(
    `EventSync: expected the saved queries and the function beside its code, and found nothing in ${ASSETS || "the place of its code"}. The app is bundled, and a bundle has code only: leave this package out of it, with esbuild by --external:brand-events-sync, and keep it installed where the app runs.`,
  );
}
