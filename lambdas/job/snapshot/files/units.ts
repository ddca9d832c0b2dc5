// What readers see whole or not at all, the units: a snapshot, or the changes of one publication. Which of them lack files.

import { isDeepStrictEqual } from "node:util";
import { damaged, damageIn, RESTORE, type SyncError } from "../../errors/sync-error.ts";
import { batches, inOrder } from "../../storage/batches.ts";
import { accountsIn, orDamage } from "../../storage/known-accounts.ts";
import { FOLDERS, layout } from "../../storage/layout.ts";
import { hasChanges, type PublishedUnits } from "../../storage/publication.ts";
import { readHead, readLog } from "../../storage/publication-log.ts";
import { listSnapshots, type SnapshotFiles } from "../../storage/snapshot-marks.ts";
import { type AccountStore, accountStore, type Store, type StoredKey } from "../../storage/store.ts";
import { readManifest } from "./manifest.ts";
import { verifyPart } from "./parts.ts";

export interface Unit {
  readonly account: string;
  readonly holds: "snapshot" | "changes";
  /** Whose changes they are; of a snapshot the newest one. */
  readonly publication: PublishedUnits;
}

export interface DamagedUnit extends Unit {
  /** Names the file. */
  readonly damage: SyncError;
}

/** Manifests that are read at the same time. */
const AT_ONCE = 16;

/** Where its files lie. */
export function folderOf({ account, holds, publication: { publication, snapshot_id } }: Unit): string {
  return holds === "snapshot"
    ? layout(account).snapshot(snapshot_id)
    : layout(account).changes(publication, snapshot_id);
}

export function describeUnit({ account, holds, publication: { publication, snapshot_id } }: Unit): string {
  const what = holds === "snapshot" ? `snapshot ${snapshot_id}` : `changes of publication ${publication}`;
  return `the ${what} of the account ${account}`;
}

/** The newest publication of each snapshot that is published and not retired, or the head. */
export function keptSnapshots(
  log: readonly PublishedUnits[],
  snapshots: readonly SnapshotFiles[],
): readonly PublishedUnits[] {
  const retired = new Set(snapshots.filter(({ isRetired }) => isRetired).map(({ snapshotId }) => snapshotId));
  const kept = log.filter(({ snapshot_id }, index) => !retired.has(snapshot_id) || index === log.length - 1);
  return [...new Map(kept.map((each) => [each.snapshot_id, each])).values()];
}

/**
 * Whether of all accounts' published snapshots that are not retired any has a file; true where none is published, or no log
 * can be read. A head that has one shows it: logs of years are read only where none has.
 */
export async function hasPublishedFiles(store: Store): Promise<boolean> {
  const names = await accountsIn(store, FOLDERS.publications);
  const accounts = names.map((account) => accountStore(store, account));
  for (const own of accounts) {
    const hasHead = await orDamage(own.account, async () => {
      const head = await readHead(own);
      return head !== undefined && hasFile(own, head.snapshot_id);
    });
    if (hasHead === true) return true;
  }
  let isPublished = false;
  for (const own of accounts) {
    const kept = await orDamage(own.account, async () =>
      keptSnapshots(await readLog(own), await listSnapshots(own)),
    );
    for (const { snapshot_id: snapshotId } of "damage" in kept ? [] : kept.toReversed()) {
      isPublished = true;
      if (await hasFile(own, snapshotId)) return true;
    }
  }
  return !isPublished;
}

/** Whether the snapshot has a file beside the mark that it is retired. */
async function hasFile({ keys, list }: AccountStore, snapshotId: string): Promise<boolean> {
  for await (const { key } of list(keys.snapshot(snapshotId)))
    if (key !== keys.retired(snapshotId)) return true;
  return false;
}

/** The changes that start from a snapshot which no earlier publication has: the files of two warehouses lie in this one. */
export function foreignChanges(account: string, log: readonly PublishedUnits[]): readonly DamagedUnit[] {
  const known = new Set<string | null | undefined>([null, undefined]);
  return log.flatMap((publication) => {
    const { base_snapshot_id: base, snapshot_id } = publication;
    const isKnown = known.has(base);
    known.add(snapshot_id);
    if (isKnown) return [];
    const problem = `its changes start from the snapshot ${base}, which this log does not have: two copies of a warehouse were put together`;
    const remedy = "Restore the folder of one copy from a backup.";
    const damage = damaged(layout(account).publication(publication.publication), problem, remedy);
    return [{ account, holds: "changes" as const, publication, damage }];
  });
}

/**
 * The units of the account that have no manifest that can be read, or a part that is missing or cut. Parts are listed and
 * not read, but for one whose size is not the manifest's: it may have been compressed again. Publications of earlier
 * versions do not say how many parts their changes have: there a gap in the numbers is found, and a missing last one is not.
 * @param log read before `snapshots` was listed: the files of a publication are there before it is
 * @param whole the sizes of the parts of snapshots that lacked nothing: where they are the same, no manifest is read
 * @param after the number of the publication before the first of `log`
 */
export async function incompleteUnits(
  store: AccountStore,
  log: readonly PublishedUnits[],
  snapshots: readonly SnapshotFiles[],
  whole: Readonly<Record<string, readonly number[]>> = {},
  after?: string,
): Promise<readonly DamagedUnit[]> {
  const files = new Map(snapshots.map((each) => [each.snapshotId, each.files]));
  const kept = keptSnapshots(log, snapshots);
  const looked = inOrder(batches(kept, AT_ONCE), async (publication) => {
    const { snapshot_id: snapshotId } = publication;
    const own = files.get(snapshotId) ?? [];
    const hasManifest = own.some(({ key }) => key === store.keys.manifest(snapshotId));
    if (hasManifest && isDeepStrictEqual(whole[snapshotId], partSizes(own))) return [];
    const damage = await damageIn(requireParts(store, publication, own));
    return damage ? [{ account: store.account, holds: "snapshot", publication, damage } as const] : [];
  });
  return [...(await Array.fromAsync(looked)).flat(), ...(await incompleteChanges(store, log, after))];
}

/** The units that lack files, of those that hold changes. */
async function incompleteChanges(
  store: AccountStore,
  log: readonly PublishedUnits[],
  after?: string,
): Promise<readonly DamagedUnit[]> {
  const changes = await filesOfChanges(store, after);
  return log.flatMap((publication) => {
    const { publication: id, snapshot_id: snapshotId } = publication;
    if (!hasChanges(publication)) return [];
    const files = changes.get(store.keys.changes(id, snapshotId)) ?? [];
    const key = missingPart(store, id, snapshotId, files, publication.files?.changes);
    if (key === undefined) return [];
    const damage = damaged(key, "it is missing", RESTORE);
    return [{ account: store.account, holds: "changes", publication, damage }];
  });
}

interface ListedChanges {
  readonly publication: string;
  readonly snapshotId: string;
  /** False where a part before the last one is missing. */
  readonly isWhole: boolean;
}

/** All changes that have any file, also those that were written and not published. */
export async function listChanges(store: AccountStore): Promise<readonly ListedChanges[]> {
  return [...(await filesOfChanges(store))].map(([folder, files]) => {
    const [, , publication = "", snapshotId = ""] = folder.split("/");
    return {
      publication,
      snapshotId,
      isWhole: missingPart(store, publication, snapshotId, files) === undefined,
    };
  });
}

const isPart = (key: string): boolean => /\/part-\d{5,}\.ndjson\.gz$/.test(key);

/** The sizes of the parts among these files, in order, as they are stored. */
export function partSizes(files: readonly StoredKey[]): readonly number[] {
  return files.filter(({ key }) => isPart(key)).map(({ bytes }) => bytes);
}

/** Throws `STORE_CORRUPT` naming the first file that is missing or cut. */
async function requireParts(
  store: AccountStore,
  { snapshot_id: snapshotId, files: said }: PublishedUnits,
  files: readonly StoredKey[],
): Promise<void> {
  const { parts, stored } = await readManifest(store, snapshotId);
  if (said !== undefined && said.snapshot !== parts.length) {
    const problem = `it names ${parts.length} parts, and ${said.snapshot} were published`;
    throw damaged(store.keys.manifest(snapshotId), problem, RESTORE);
  }
  const bytesOf = new Map(files.map(({ key, bytes }) => [key, bytes]));
  for (const [index, part] of parts.entries()) {
    const key = `${store.keys.snapshot(snapshotId)}${part.file}`;
    const bytes = bytesOf.get(key);
    if (bytes === undefined) throw damaged(key, "it is missing", RESTORE);
    if (stored && bytes !== stored[index]?.bytes) await verifyPart(store, key, part);
  }
}

/** The files of all changes, or of those behind a number, by the folder that they lie in. */
async function filesOfChanges(
  store: AccountStore,
  after?: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = `${FOLDERS.changes}${store.account}/`;
  const listed = store.list(folder, after && `${folder}${after}/~`);
  const files = await Array.fromAsync(listed, ({ key }) => key);
  return Map.groupBy(files, (key) => key.slice(0, key.lastIndexOf("/") + 1));
}

/** So many parts have the first numbers, unless one of them is missing: as many as there should be, or else as there are. */
function missingPart(
  { keys }: AccountStore,
  publication: string,
  snapshotId: string,
  files: readonly string[],
  said?: number,
): string | undefined {
  const parts = said ?? Math.max(files.filter(isPart).length, 1);
  return Array.from({ length: parts }, (_, index) => keys.changesPart(publication, snapshotId, index)).find(
    (key) => !files.includes(key),
  );
}
