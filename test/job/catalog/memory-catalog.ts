// The catalog's twin in memory: what readers would see, and nothing that the publication log does not say.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { readLines } from "../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { listChanges } from "../../../lambdas/job/snapshot/files/units.ts";
import { parseRow, type Row } from "../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { hasChanges, type Publication } from "../../../lambdas/job/storage/publication.ts";
import { readLog } from "../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots } from "../../../lambdas/job/storage/snapshot-marks.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";

export class MemoryCatalog implements Catalog {
  readonly #store: Store;
  readonly #logs = new Map<string, readonly Publication[]>();
  readonly #snapshots = new Map<string, readonly string[]>();
  /** The folders of changes that lack a file. */
  readonly #leftOut = new Map<string, ReadonlySet<string>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async refresh(account: string): Promise<void> {
    const log = await readLog(accountStore(this.#store, account));
    const shown = new Set(log.slice(-1).map(({ snapshot_id }) => snapshot_id));
    for (const { snapshotId, isRetired } of await listSnapshots(accountStore(this.#store, account))) {
      if (!isRetired && log.some(({ snapshot_id }) => snapshot_id === snapshotId)) shown.add(snapshotId);
    }
    const changes = await listChanges(accountStore(this.#store, account));
    const leftOut = changes
      .filter(({ isWhole }) => !isWhole)
      .map(({ publication, snapshotId }) => layout(account).changes(publication, snapshotId));
    this.#leftOut.set(account, new Set(leftOut));
    this.#logs.set(account, log);
    this.#snapshots.set(account, [...shown].sort());
  }

  /** The publication whose snapshot `events` shows. */
  head(account: string): Publication | undefined {
    return this.log(account).at(-1);
  }

  /** The publications followed to, oldest first. */
  log(account: string): readonly Publication[] {
    return this.#logs.get(account) ?? [];
  }

  /** The snapshots in the table `event_snapshots`. */
  snapshots(account: string): readonly string[] {
    return this.#snapshots.get(account) ?? [];
  }

  /** The table `events`: every row below the head's prefix, as a reader that knows no manifest finds them. */
  async events(account: string): Promise<readonly Row[]> {
    const head = this.head(account);
    return head ? this.snapshot(account, head.snapshot_id) : [];
  }

  /** The rows of one snapshot in the table `event_snapshots`. */
  async snapshot(account: string, snapshotId: string): Promise<readonly Row[]> {
    return (await this.#lines(layout(account).snapshot(snapshotId))).map(parseRow);
  }

  /** The table `event_changes`, oldest publication first. */
  async changes(account: string): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const { publication } of this.log(account))
      lines.push(...(await this.changesOf(account, publication)));
    return lines;
  }

  /** The rows of one publication in the table `event_changes`. */
  async changesOf(account: string, publication: string): Promise<readonly string[]> {
    const found = this.log(account).find((each) => each.publication === publication);
    if (found === undefined || !hasChanges(found)) return [];
    const folder = layout(account).changes(publication, found.snapshot_id);
    return this.#leftOut.get(account)?.has(folder) ? [] : this.#lines(folder);
  }

  async #lines(prefix: string): Promise<readonly string[]> {
    const lines: string[] = [];
    for await (const { key } of this.#store.list(prefix)) {
      if (key.slice(prefix.length).startsWith("_")) continue;
      const chunks = await this.#store.open(key);
      if (chunks) for await (const line of readLines(chunks, key)) lines.push(line);
    }
    return lines;
  }
}
