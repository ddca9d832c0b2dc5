// Logs what a publication changed in the fields of events.

import { SyncError } from "../../errors/sync-error.ts";
import {
  describeFieldChanges,
  type FieldChanges,
  fieldChanges,
} from "../../snapshot/fields/field-changes.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";

/** Against the snapshot that was the head before; nothing for the first one. */
export async function logFieldChanges(
  { store, logger }: Pick<RunPorts, "store" | "logger">,
  publication: Publication,
): Promise<void> {
  try {
    const changes = await publishedFieldChanges(store, publication);
    for (const line of changes ? describeFieldChanges(changes) : []) logger.info(line);
  } catch (error) {
    // The snapshot is published: a failure here must not fail the run.
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`the changes of the events' fields could not be compared: ${error.message}`, {
      error_code: error.code,
    });
  }
}

/** Undefined for the first publication, and where the snapshot before it is deleted. Throws `STORE_CORRUPT`. */
export async function publishedFieldChanges(
  store: AccountStore,
  { snapshot_id: snapshotId, base_snapshot_id: base }: Publication,
): Promise<FieldChanges | undefined> {
  if (base === null || (await store.read(store.keys.manifest(base))) === undefined) return undefined;
  return fieldChanges(await readManifest(store, base), await readManifest(store, snapshotId));
}
