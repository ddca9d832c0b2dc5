// What the Glue database of a warehouse may be called.

import { text } from "./value-schemas.ts";

export const databaseName = text(
  "expected a name of a-z, 0-9 and _, up to 255 long, for the Glue database",
  (value) => /^[a-z0-9_]{1,255}$/.test(value),
);

export const DEFAULT_DATABASE = "brand_events";
