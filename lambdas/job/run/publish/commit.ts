// The second half of PUBLISH: what changed, and the one write that commits.

import { SyncError } from "../../errors/sync-error.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { readParts, writeParts } from "../../snapshot/files/parts.ts";
import { changeLine, diffRows } from "../../snapshot/rows/diff-rows.ts";
import { parseRow, type Row } from "../../snapshot/rows/row.ts";
import { layout, publicationId } from "../../storage/layout.ts";
import { type Publication, publish, readHead } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";
import type { BaseOf } from "./base.ts";
import { explainDamage } from "./explain-damage.ts";

type Action = Pick<Publication, "action" | "run_id" | "pinned">;

/**
 * Publishes a snapshot. `decide` is called before each try, with the head of that moment, and may end the commit with a
 * decision of its own; a lost race reads the log again. `baseOf` says what the changes are found against.
 */
export async function commit<Decision>(
  ports: Pick<RunPorts, "store" | "clock" | "random" | "signal">,
  manifest: Manifest,
  action: Action,
  decide: (head: Publication | undefined) => Promise<Decision | undefined>,
  baseOf: BaseOf,
): Promise<Decision | Publication> {
  const { store, clock, random, signal } = ports;
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
    const changes = await writeChanges(ports, number, base, manifest).catch(async (error: unknown) => {
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
  manifest: Manifest,
): Promise<Pick<Publication, "added" | "changed" | "removed">> {
  const { account, snapshot_id: snapshotId } = manifest;
  const counts = { added: 0, changed: 0, removed: 0 };
  async function* lines(): AsyncGenerator<string> {
    const after = abortable(rowsOf(store, manifest), signal);
    for await (const change of diffRows(baseRows(store, account, base), after)) {
      counts[change.change] += 1;
      yield changeLine(change);
    }
  }
  await writeParts({
    store,
    key: (index) => layout.changesPart(account, number, snapshotId, index),
    lines: lines(),
  });
  return counts;
}

/** A comparison without changes writes nothing, so it would not notice the signal. */
async function* abortable(rows: AsyncIterable<Row>, signal: AbortSignal): AsyncGenerator<Row> {
  for await (const row of rows) {
    signal.throwIfAborted();
    yield row;
  }
}

/** The rows that changes are found against, sorted by uuid; none without a base. */
export async function* baseRows(store: Store, account: string, base: string | null): AsyncGenerator<Row> {
  if (base !== null) yield* rowsOf(store, await readManifest(store, account, base));
}

async function* rowsOf(store: Store, manifest: Manifest): AsyncGenerator<Row> {
  const prefix = layout.snapshot(manifest.account, manifest.snapshot_id);
  for await (const line of readParts(store, prefix, manifest.parts)) yield parseRow(line);
}
