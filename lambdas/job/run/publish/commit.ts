// The second half of PUBLISH: what changed, and the one write that commits.

import { SyncError } from "../../errors/sync-error.ts";
import type { AddedFile } from "../../snapshot/compare/added-ahead.ts";
import { addedLines } from "../../snapshot/compare/added-lines.ts";
import { compareSnapshots } from "../../snapshot/compare/compare-snapshots.ts";
import type { KeptRows } from "../../snapshot/compare/kept-rows.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { writeParts } from "../../snapshot/files/parts.ts";
import { changeLine } from "../../snapshot/rows/diff-rows.ts";
import { layout, publicationId } from "../../storage/layout.ts";
import { type Publication, publish, readHead } from "../../storage/publication-log.ts";
import type { RunPorts } from "../run-ports.ts";
import type { BaseOf } from "./base.ts";
import { explainDamage } from "./explain-damage.ts";

type Action = Pick<Publication, "action" | "run_id" | "pinned">;

export interface SnapshotToPublish {
  readonly manifest: Manifest;
  /** Of a snapshot that was made just now. */
  readonly kept?: KeptRows | undefined;
  /** Its changes, if it is the first one. */
  readonly added?: AddedFile | undefined;
}

/**
 * Publishes a snapshot. `decide` is called before each try, with the head of that moment, and may end the commit with a
 * decision of its own; a lost race reads the log again. `baseOf` says what the changes are found against.
 */
export async function commit<Decision>(
  ports: Pick<RunPorts, "store" | "clock" | "random" | "signal">,
  snapshot: SnapshotToPublish,
  action: Action,
  decide: (head: Publication | undefined) => Promise<Decision | undefined>,
  baseOf: BaseOf,
): Promise<Decision | Publication> {
  const { store, clock, random, signal } = ports;
  const { manifest } = snapshot;
  const { account, snapshot_id: snapshotId } = manifest;
  let lost: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const head = await readHead(store, account);
    const decision = await decide(head);
    if (decision !== undefined) return decision;

    const number = publicationId(head === undefined ? 1 : Number(head.publication) + 1);
    // A lost race moves the head. A number that is taken but not in the log would be lost again and again.
    if (number === lost) throw unlisted(layout.publication(account, number));
    const base = await baseOf(head);
    const changes = await writeChanges(ports, number, base, snapshot).catch(async (error: unknown) => {
      throw await explainDamage(error, ports, account, { base, snapshotId });
    });
    const publication: Publication = {
      publication: number,
      snapshot_id: snapshotId,
      base_snapshot_id: base,
      published_at: new Date(clock.now()).toISOString(),
      events: manifest.counts.events,
      ...changes,
      ...action,
      write_id: random.token(),
    };
    if ((await publish(store, account, publication)) === "committed") return publication;
    lost = number;
  }
}

function unlisted(key: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `The publication ${key} exists, but listing the folder does not show it, so nothing can be published after it. Check the folder (permissions, links, disk), then start again.`,
    { fields: { key } },
  );
}

async function writeChanges(
  { store, signal }: Pick<RunPorts, "store" | "signal">,
  number: string,
  base: string | null,
  { manifest, kept, added }: SnapshotToPublish,
): Promise<Pick<Publication, "added" | "changed" | "removed">> {
  const { account, snapshot_id: snapshotId } = manifest;
  const counts = { added: 0, changed: 0, removed: 0 };
  const key = (index: number): string => layout.changesPart(account, number, snapshotId, index);
  if (base === null && added) {
    const created = await store.create(key(0), Buffer.concat(added.chunks));
    if (created !== undefined) return { ...counts, added: added.rows };
  }
  const proceed = (): void => signal.throwIfAborted();
  async function* lines(): AsyncGenerator<string | Uint8Array> {
    if (base === null) {
      for await (const line of addedLines(store, manifest, proceed)) {
        counts.added += 1;
        yield line;
      }
      return;
    }
    const before = await readManifest(store, account, base);
    for await (const change of compareSnapshots(store, before, manifest, { kept, proceed })) {
      counts[change.change] += 1;
      yield changeLine(change);
    }
  }
  await writeParts({ store, key, lines: lines() });
  return counts;
}
