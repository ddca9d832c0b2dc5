// Logs what a publication changed in the fields of events.

import { SyncError } from "../../errors/sync-error.ts";
import { describeFieldChanges, fieldChanges } from "../../snapshot/fields/field-changes.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { RunPorts } from "../run-ports.ts";

/** Against the snapshot that was the head before; nothing for the first one. */
export async function logFieldChanges(
  { store, logger }: Pick<RunPorts, "store" | "logger">,
  manifest: Manifest,
  { base_snapshot_id: base }: Publication,
): Promise<void> {
  if (base === null) return;
  try {
    const before = await readManifest(store, manifest.account, base);
    for (const line of describeFieldChanges(fieldChanges(before, manifest))) logger.info(line);
  } catch (error) {
    // The snapshot is published: a failure here must not fail the run.
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`the changes of the events' fields could not be compared: ${error.message}`, {
      error_code: error.code,
    });
  }
}
