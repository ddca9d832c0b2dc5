// How this program is started where it runs. Every command that it prints begins with this.

import { fileURLToPath } from "node:url";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";

const COMMAND = "brand-events-sync";

/** `file` is a URL of this program's own code: sources run in a clone, built code where the package is installed. */
export function programName(file: string): string {
  if (file.endsWith(".ts")) return "npm run sync --";
  // npx installs into a folder of its own, and puts the command into PATH for one process only.
  const npx = /^.*\/_npx\/[^/]+\/node_modules\//.exec(file)?.[0];
  return npx === undefined ? COMMAND : shellWord(fileURLToPath(`${npx}.bin/${COMMAND}`));
}

export const PROGRAM_NAME: string = programName(import.meta.url);
