// What a publication changed in the fields of events, against the snapshot that its changes were found against.

import { type FieldChanges, fieldChanges } from "../../snapshot/fields/field-changes.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { layout } from "../../storage/layout.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";

/** Undefined for the first publication, and where the snapshot before it is deleted. Throws `STORE_CORRUPT`. */
export async function publishedFieldChanges(
  store: Store,
  account: string,
  { snapshot_id: snapshotId, base_snapshot_id: base }: Publication,
): Promise<FieldChanges | undefined> {
  if (base === null || (await store.read(layout.manifest(account, base))) === undefined) return undefined;
  return fieldChanges(
    await readManifest(store, account, base),
    await readManifest(store, account, snapshotId),
  );
}
