// Names the settings that shape rows, so that work staged under other settings is never mixed in.

import { createHash } from "node:crypto";
import { eventColumns } from "../snapshot/rows/lifted-column.ts";
import type { RunSettings } from "./run-settings.ts";

/** Raise it when the same responses of the service would give other rows than before. */
const ROW_FORMAT = 1;

/** SHA-256 in hex. Contains no credentials: the account's name stands for them. */
export function fingerprint(settings: RunSettings): string {
  const { account, baseUrl, isListed, listPointer, detailPointer, lifted } = settings;
  const shaping = [
    ROW_FORMAT,
    eventColumns(lifted),
    lifted.map(({ pointer }) => pointer),
    account,
    baseUrl,
    isListed,
    listPointer ?? null,
    detailPointer ?? null,
  ];
  return createHash("sha256").update(JSON.stringify(shaping)).digest("hex");
}
