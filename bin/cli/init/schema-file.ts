// Where the JSON Schema of the settings file is, which editors complete and check with.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "brand-events.schema.json";

/** In the folder of this program, or in one above this code. Undefined where a package leaves it out. */
export function schemaFile(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (dirname(folder) !== folder) {
    const file = join(folder, NAME);
    if (existsSync(file)) return file;
    folder = dirname(folder);
  }
  return undefined;
}
