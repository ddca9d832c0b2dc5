// Where the snapshots of a command are, for messages that are read elsewhere, and for several warehouses.

import { hostname } from "node:os";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { OptionValues } from "../options/options.ts";

/** `/srv/brand-events/warehouse on host server, settings /srv/brand-events/brand-events.json`. */
export function whereText({ warehouse, config }: OptionValues<"warehouse" | "config">): string {
  const place = isS3(warehouse)
    ? `${warehouse}, asked from host ${hostname()}`
    : `${warehouse} on host ${hostname()}`;
  return config === undefined ? place : `${place}, settings ${config.path}`;
}
