// Which publications changed the fields of events: new ones, ones that are gone, ones with other types.

import { type FieldChanges, fieldChanges } from "../../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { Profile } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { manifestIfWhole } from "./manifest-if-whole.ts";

export interface ChangedFields {
  readonly publication: Publication;
  readonly changes: FieldChanges;
}

export interface FieldNews {
  /** The publications that changed any, oldest first. */
  readonly changed: readonly ChangedFields[];
  /** Publications that could be compared with the one before. */
  readonly compared: number;
  /** Fields of the head; undefined where its manifest cannot be read. */
  readonly fields: number | undefined;
}

/** Each takes a read of a manifest, which may be large. */
const MOST = 60;

export async function readFieldNews(
  store: Store,
  account: string,
  publications: readonly Publication[],
): Promise<FieldNews> {
  const changed: ChangedFields[] = [];
  let compared = 0;
  let last: { readonly snapshotId: string; readonly profile: Profile | undefined } | undefined;
  const profileOf = async (snapshotId: string): Promise<Profile | undefined> =>
    last?.snapshotId === snapshotId ? last.profile : manifestIfWhole(store, account, snapshotId);
  for (const publication of publications.slice(-MOST)) {
    const { base_snapshot_id: base, snapshot_id: snapshotId } = publication;
    const before = base === null ? undefined : await profileOf(base);
    const after = await profileOf(snapshotId);
    last = { snapshotId, profile: after };
    if (before === undefined || after === undefined) continue;
    compared += 1;
    const changes = fieldChanges(before, after);
    const { added, gone, retyped } = changes;
    if (added.length + gone.length + retyped.length > 0) changed.push({ publication, changes });
  }
  return { changed, compared, fields: last?.profile?.fields.length };
}
