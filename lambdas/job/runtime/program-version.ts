// The program's version, from the one place that states it.

import packageJson from "../../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;
