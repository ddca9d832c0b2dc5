// The second half of PUBLISH: what changed, the one write that commits, and the catalog that follows it.

import { changeLine, diffRows } from "../snapshot/changes.ts";
import { type Manifest, readManifest } from "../snapshot/manifest.ts";
import { readParts, writeParts } from "../snapshot/part.ts";
import { parseRow, type Row } from "../snapshot/row.ts";
import { layout, publicationId } from "../storage/layout.ts";
import { findPublicationOf, type Publication, publish, readHead } from "../storage/publication-log.ts";
import type { Store } from "../storage/store.ts";
import type { RunHost } from "./run-host.ts";

export type Commit =
  | { readonly kind: "published"; readonly publication: Publication }
  | { readonly kind: "superseded"; readonly head: Publication }
  | { readonly kind: "pinned"; readonly head: Publication };

/**
 * Publishes a run's snapshot unless the log says otherwise (design section 6, steps 3 to 5). Whatever process
 * gets there first, one publication carries this run; a lost race reads the log again.
 */
export async function commitRun(host: RunHost, account: string, manifest: Manifest): Promise<Commit> {
  const { store, clock, random } = host;
  const { run_id: runId, snapshot_id: snapshotId } = manifest;
  for (;;) {
    host.signal.throwIfAborted();
    const head = await readHead(store, account);
    const own = await findPublicationOf(store, account, runId);
    if (own) return { kind: "published", publication: own };
    if (head && head.snapshot_id >= snapshotId) return { kind: "superseded", head };
    if (head?.pinned) return { kind: "pinned", head };

    const number = publicationId(head === undefined ? 1 : Number(head.publication) + 1);
    const changes = await writeChanges(store, account, number, head, manifest);
    const publication: Publication = {
      publication: number,
      action: "run",
      snapshot_id: snapshotId,
      base_snapshot_id: head?.snapshot_id ?? null,
      published_at: new Date(clock.now()).toISOString(),
      events: manifest.counts.events,
      ...changes,
      run_id: runId,
      pinned: false,
      write_id: random.token(),
    };
    if ((await publish(store, account, publication)) === "committed")
      return { kind: "published", publication };
  }
}

interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

async function writeChanges(
  store: Store,
  account: string,
  number: string,
  head: Publication | undefined,
  manifest: Manifest,
): Promise<ChangeCounts> {
  const counts = { added: 0, changed: 0, removed: 0 };
  const before = headRows(store, account, head);
  const after = rowsOf(store, account, manifest);
  async function* lines(): AsyncGenerator<string> {
    for await (const change of diffRows(before, after)) {
      counts[change.change] += 1;
      yield changeLine(change);
    }
  }
  await writeParts({
    store,
    key: (index) => layout.changesPart(account, number, manifest.snapshot_id, index),
    lines: lines(),
  });
  return counts;
}

/** The rows that readers see now, sorted by uuid; none before the first publication. */
export async function* headRows(
  store: Store,
  account: string,
  head: Publication | undefined,
): AsyncGenerator<Row> {
  if (head) yield* rowsOf(store, account, await readManifest(store, account, head.snapshot_id));
}

async function* rowsOf(store: Store, account: string, manifest: Manifest): AsyncGenerator<Row> {
  const keys = manifest.parts.map(({ file }) => `${layout.snapshot(account, manifest.snapshot_id)}${file}`);
  for await (const line of readParts(store, keys)) yield parseRow(line);
}
