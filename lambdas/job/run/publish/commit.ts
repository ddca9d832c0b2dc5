// The second half of PUBLISH: what changed, and the one write that commits.

import { addRestart, isDamage, SyncError, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { mapOrdered } from "../../runtime/map-ordered.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { type PartInfo, type WrittenPart, writeParts } from "../../snapshot/files/parts.ts";
import { checkListed } from "../../snapshot/files/verify-snapshot.ts";
import { changeLine, compareSnapshots } from "../../snapshot/rows/compare-snapshots.ts";
import { keysOf } from "../../storage/known-accounts.ts";
import { publicationId } from "../../storage/layout.ts";
import type { Missing, Publication, Removal } from "../../storage/publication.ts";
import { type LogEnd, publish, readLogSince } from "../../storage/publication-log.ts";
import type { HostPorts, WarehousePorts, WorldPorts } from "../run-ports.ts";
import { recordColumnsOf } from "./columns.ts";

type Action = Pick<Publication, "action" | "run_id" | "pinned">;

/**
 * Publishes a snapshot. `decide` is called before each try, with the head of that moment, and may end the commit with a
 * decision of its own; a lost race reads the log again.
 * @param first where the log ended before the snapshot was read or made; throws `SNAPSHOT_NOT_FOUND` where the account
 * was removed since
 * @param isRestart true: every event is `added`, whatever the head is
 */
export async function commit<Decision>(
  ports: WorldPorts & WarehousePorts & HostPorts,
  manifest: Manifest,
  action: Action,
  first: LogEnd,
  decide: (head: Publication | undefined) => Promise<Decision | undefined>,
  isRestart: boolean,
): Promise<Decision | Publication> {
  const { store, clock, random, signal } = ports;
  const { snapshot_id: snapshotId } = manifest;
  let lost: string | undefined;
  let isAgain = false;
  for (;;) {
    const since = await readLogSince(store, first.last);
    if (since.removal) throw removedMeanwhile(store.account, snapshotId);
    const head = since.publications.at(-1) ?? first.head;
    const decision = await decide(head);
    if (decision !== undefined) return decision;

    const number = publicationId(Number(since.last) + 1);
    // A lost race moves the head. A number that is taken but not in the log would be lost again and again.
    if (number === lost) throw unlisted(store.keys.publication(number));
    const base = isRestart ? null : (head?.snapshot_id ?? null);
    const written = await writeChanges(ports, { number, head, base, manifest }).catch(
      async (error: unknown) => {
        if (!isDamage(error)) throw error;
        // What looks damaged is read a second time: a disk may have failed for a moment.
        if (!isAgain) return "again";
        // Another decision has published with other changes: the race is lost.
        if ((await store.read(store.keys.publication(number))) !== undefined) return undefined;
        // A restart helps over a damaged base, and over nothing else.
        const isOfBase = String(error.fields["key"]).startsWith(store.keys.snapshot(base ?? ""));
        throw isOfBase ? addRestart(error) : error;
      },
    );
    isAgain = written === "again";
    if (written === "again") continue;
    lost = number;
    if (written === undefined) continue;
    const { counts, files } = written;
    const accepted = action.action === "run" ? head?.accepted : missingOf(manifest);
    const publication: Publication = {
      publication: number,
      snapshot_id: snapshotId,
      base_snapshot_id: base,
      published_at: new Date(clock.now()).toISOString(),
      events: manifest.counts.events,
      ...counts,
      ...action,
      files: { snapshot: manifest.parts.length, changes: files },
      ...(accepted ? { accepted } : {}),
      write_id: random.token(),
    };
    // A part that a person has compressed again is whole, and has another size.
    const stored = action.action === "run" ? manifest.stored : undefined;
    await checkListed(store, store.keys.snapshot(snapshotId), { parts: manifest.parts, stored });
    signal.throwIfAborted();
    await recordColumnsOf(ports, manifest, action.action === "run");
    if ((await publish(store, publication)) === "committed") return publication;
  }
}

/** Undefined where nothing is. */
function missingOf({ counts }: Manifest): Missing | undefined {
  const { listed, events, gone, forbidden, rejected, unreadable } = counts;
  // Unreadable events are known by uuid: no share of others is accepted with them.
  return listed === events ? undefined : { listed, gone, forbidden, rejected: rejected - unreadable };
}

export function removedMeanwhile(account: string, snapshotId: string): SyncError {
  return new SyncError(
    "SNAPSHOT_NOT_FOUND",
    `The account ${account} was removed while the snapshot ${snapshotId} was to be published. Nothing is published.`,
    { fields: { snapshot_id: snapshotId }, next: "Start a run to make the account again." },
  );
}

function unlisted(key: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `The publication ${key} exists, but listing the folder does not show it, so nothing can be published after it.`,
    { fields: { key }, next: "Check the folder (permissions, links, disk), then start again." },
  );
}

interface ChangesToWrite {
  /** Of the publication. */
  readonly number: string;
  readonly head: Publication | undefined;
  /** The snapshot to compare with; null where there is none. */
  readonly base: string | null;
  readonly manifest: Manifest;
}

/** Files of a first publication that are written at the same time: each keeps one thread of zlib busy. */
const AT_ONCE = 2;

interface WrittenChanges {
  readonly counts: Pick<Publication, "added" | "changed" | "removed">;
  readonly files: number;
}

/**
 * Writes `event_changes` of a publication: what differs from the base. Of a first one each file holds the rows of one part
 * of the snapshot. Later another decision about the snapshot may compare with something else and want the same number: the
 * one goes on that creates the first file in which they differ. As both fill their files, there is one, unless one of them
 * has no changes, and then it needs no file.
 */
async function writeChanges(
  { store, signal }: WarehousePorts & HostPorts,
  { number, head, base, manifest }: ChangesToWrite,
): Promise<WrittenChanges> {
  const key = (index: number): string => store.keys.changesPart(number, manifest.snapshot_id, index);
  const counts = { added: 0, changed: 0, removed: 0 };
  const proceed = (): void => signal.throwIfAborted();
  async function* lines(before: Manifest | undefined, after: Manifest): AsyncGenerator<string> {
    for await (const change of compareSnapshots(store, before, after, proceed)) {
      counts[change.change] += 1;
      yield changeLine(change);
    }
  }
  const each = ([index, part]: readonly [number, PartInfo]): Promise<readonly WrittenPart[]> => {
    const own = lines(undefined, { ...manifest, parts: [part] });
    return writeParts({ store, key: () => key(index), lines: own, maxBytes: Infinity });
  };
  const bounds = { concurrency: AT_ONCE, ahead: AT_ONCE, signal };
  // A restart compares with nothing; a head of a later version is no damage, and ends it too.
  const shown =
    head &&
    (await readManifest(store, head.snapshot_id).catch(base === null ? undefinedIfDamaged : undefined));
  const before = base === null ? undefined : shown;
  const parts =
    head === undefined
      ? (await Array.fromAsync(mapOrdered(manifest.parts.entries(), each, bounds))).flat()
      : await writeParts({ store, key, lines: lines(before, manifest) });
  // What a stopped decision has left behind the last file would be read with the others.
  if (parts.length > 0) await checkListed(store, store.keys.changes(number, manifest.snapshot_id), { parts });
  return { counts, files: parts.length };
}

/**
 * For a process that was stopped while the account was removed: takes what there is of its run, or of the snapshot that it
 * wanted to publish, out of the tables and then deletes it, because it never counts again. Undefined where the account was
 * not removed since `last`, the end of the log when the process began.
 */
export async function takeBack(
  { store, catalog }: WarehousePorts,
  { last, id }: { readonly last: string; readonly id: string },
): Promise<Removal | undefined> {
  const { removal } = await readLogSince(store, last);
  if (removal === undefined) return undefined;
  await catalog.refresh(store.account);
  await store.delete((await keysOf(store)).own.filter((key) => key.includes(`/${id}/`)));
  return removal;
}
