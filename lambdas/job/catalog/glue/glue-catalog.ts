// The catalog in AWS: Glue's tables, whose partitions follow the publication log.

import { isDeepStrictEqual } from "node:util";
import { SyncError } from "../../errors/sync-error.ts";
import { listChanges } from "../../snapshot/files/units.ts";
import { publicationId, type TableName } from "../../storage/layout.ts";
import { hasChanges, type Publication } from "../../storage/publication.ts";
import { publicationsSince, readEnd, readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import { type AccountStore, accountStore, type Store } from "../../storage/store.ts";
import type { Catalog } from "../catalog.ts";
import { GlueDatabase, type GlueDatabaseOptions } from "./glue-database.ts";
import { LIFTED_TABLES } from "./glue-tables.ts";

/** The parameter of the partition of `events` that names the publication it shows. */
const PUBLICATION = "publication";
const MAX_TRIES = 10;

interface GlueCatalogOptions extends GlueDatabaseOptions {
  readonly store: Store;
  /** `s3://bucket/prefix`, without a closing slash: where the store's keys begin. */
  readonly location: string;
}

export class GlueCatalog implements Catalog {
  readonly #store: Store;
  readonly #glue: GlueDatabase;
  readonly #location: string;

  constructor({ store, location, ...glue }: GlueCatalogOptions) {
    this.#store = store;
    this.#glue = new GlueDatabase(glue);
    this.#location = location;
  }

  /**
   * Glue has no compare-and-swap: a slow process may put an older head in a later one's place. So every
   * process reads the log again after it has written, and the last one to write ends at the head. Where another one has
   * published meanwhile, partitions of this one may stand where a removal has taken them out: then it looks at all of them.
   */
  async refresh(account: string, what?: "new"): Promise<void> {
    const store = accountStore(this.#store, account);
    let refreshed: string | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { last, head, removal } = await readEnd(store, refreshed ?? (await this.#shownAt(account)));
      if (last === refreshed) return;
      if (removal) await this.#takeOut(store, removal.publication);
      else await this.#ensureLines(store);
      if (head) await this.#moveTo(head, store, what !== "new" || tries > 0);
      refreshed = last;
    }
    throw new SyncError(
      "CATALOG_FAILED",
      `Other processes have published ${MAX_TRIES} times while the catalog was refreshed. The snapshots are safe; start again when fewer runs are active.`,
    );
  }

  /**
   * `events` first, whose rows readers look at. Only what lies below the removal: another process may have put in what
   * came after it. The log says which snapshots did, because the clock that named the removal may be behind theirs.
   */
  async #takeOut(store: AccountStore, publication: string): Promise<void> {
    const { account } = store;
    const shown = await this.#glue.find("events", [account]);
    if (shown && (shown.parameters?.[PUBLICATION] ?? "") < publication)
      await this.#glue.remove("events", [[account]]);
    const valuesOf = async (table: TableName): Promise<readonly (readonly string[])[]> =>
      (await this.#glue.list(table, account)).map(({ values }) => values);
    const snapshots = await valuesOf("event_snapshots");
    const since = await readLogSince(store, publication);
    const later = new Set(since.publications.map(({ snapshot_id: snapshotId }) => snapshotId));
    await this.#glue.remove(
      "event_snapshots",
      snapshots.filter(([, snapshotId = ""]) => !later.has(snapshotId)),
    );
    const changes = await valuesOf("event_changes");
    await this.#glue.remove(
      "event_changes",
      changes.filter(([, each = ""]) => each <= publication),
    );
    for (const table of ["publications", "sync_runs"] as const) {
      await this.#glue.remove(table, await valuesOf(table));
    }
  }

  /** The longer list where one table has been deployed and the other not yet. Throws `CONFIG_INVALID` for columns that no deployment makes. */
  async columns(): Promise<readonly string[]> {
    let longest: readonly string[] = [];
    for (const table of LIFTED_TABLES) {
      const columns = await this.#glue.columns(table);
      const typed = columns.find(({ type }) => type !== "string");
      if (typed) throw foreign(table, `its column ${typed.name} is of the type ${typed.type}, not a string`);
      const names = columns.map(({ name }) => name);
      const common = Math.min(names.length, longest.length);
      const at = names.slice(0, common).findIndex((name, index) => name !== longest[index]);
      if (at !== -1) throw foreign(table, `its column ${names[at]} is ${longest[at]} in ${LIFTED_TABLES[0]}`);
      if (names.length > longest.length) longest = names;
    }
    return longest;
  }

  /**
   * The account's partitions of `publications` and `sync_runs`, which show its files as they come. They are the job's
   * and not the stack's, so they stay when the account is taken out of the stack.
   */
  async #ensureLines({ account, keys }: AccountStore): Promise<void> {
    for (const [table, folder] of [
      ["publications", keys.publications],
      ["sync_runs", keys.runLogs],
    ] as const) {
      const location = this.#at(folder);
      const found = await this.#glue.find(table, [account]);
      const isSame = isDeepStrictEqual(found?.columns, await this.#glue.columns(table));
      if (found?.location === location && isSame) continue;
      await this.#glue.put(table, [{ values: [account], location }]);
    }
  }

  /** `events` is moved last: what it names is then there in the other two tables as well. */
  async #moveTo(head: Publication, store: AccountStore, looksAtAll: boolean): Promise<void> {
    const { account, keys } = store;
    const shown = await this.#glue.find("events", [account]);
    const shownAt = shown?.parameters?.[PUBLICATION] ?? "";
    // This process was stopped, and another one has moved it on: the next look at the log finds the later head.
    if (shownAt > head.publication && (await readEnd(store, shownAt)).last > head.publication) return;
    const since = await readLogSince(store, shownAt);
    const behind = since.publications;
    // A process that was stopped before the removal may have put partitions back.
    if (since.removal) {
      await this.#takeOut(store, since.removal.publication);
      await this.#ensureLines(store);
      if (head.publication < since.removal.publication) return; // read before the removal
    }
    if (looksAtAll || shownAt === "") {
      await this.#refreshChanges(shownAt, behind, store);
      await this.#refreshSnapshots(head, behind, store);
    } else {
      await this.#putChanges(behind, store);
      await this.#putSnapshots(new Set(behind.map(({ snapshot_id: snapshotId }) => snapshotId)), store);
    }
    const location = this.#at(keys.snapshot(head.snapshot_id));
    if (shown?.location === location && shown.parameters?.[PUBLICATION] === head.publication) return;
    const parameters = { [PUBLICATION]: head.publication };
    await this.#glue.put("events", [{ values: [account], location, parameters }]);
  }

  /**
   * Changes that lack a file have no partition until it is restored: Athena's views cannot see it, and would show the
   * others.
   */
  async #refreshChanges(shownAt: string, behind: readonly Publication[], store: AccountStore): Promise<void> {
    const { account, keys } = store;
    const partitions = await this.#glue.list("event_changes", account);
    const there = new Map(partitions.map(({ values, location }) => [values[1] ?? "", location]));
    const listed = (await listChanges(store)).map(({ publication, snapshotId, isWhole }) => ({
      publication,
      isWhole,
      location: this.#at(keys.changes(publication, snapshotId)),
    }));
    const damaged = new Set(listed.filter(({ isWhole }) => !isWhole).map(({ location }) => location));
    const isBack = listed.find(
      ({ publication, isWhole }) => isWhole && publication <= shownAt && !there.has(publication),
    );
    const log = isBack
      ? (await readLogSince(store, publicationId(Number(isBack.publication) - 1))).publications
      : behind;
    const put = log.filter(
      ({ publication, snapshot_id: snapshotId }) =>
        (publication > shownAt || !there.has(publication)) &&
        !damaged.has(this.#at(keys.changes(publication, snapshotId))),
    );
    await this.#putChanges(put, store);
    const over = [...there].filter(([, location]) => damaged.has(location));
    await this.#glue.remove(
      "event_changes",
      over.map(([publication]) => [account, publication]),
    );
  }

  async #putChanges(log: readonly Publication[], { account, keys }: AccountStore): Promise<void> {
    const partitions = log.filter(hasChanges).map(({ publication, snapshot_id: snapshotId }) => ({
      values: [account, publication],
      location: this.#at(keys.changes(publication, snapshotId)),
    }));
    await this.#glue.put("event_changes", partitions);
  }

  async #putSnapshots(snapshotIds: Iterable<string>, { account, keys }: AccountStore): Promise<void> {
    const partitions = [...snapshotIds].map((snapshotId) => ({
      values: [account, snapshotId],
      location: this.#at(keys.snapshot(snapshotId)),
    }));
    await this.#glue.put("event_snapshots", partitions);
  }

  /** A published snapshot has a partition as long as it has files and is not retired; the head's always has. */
  async #refreshSnapshots(
    head: Publication,
    behind: readonly Publication[],
    store: AccountStore,
  ): Promise<void> {
    const { account, keys } = store;
    const locationOf = (snapshotId: string): string => this.#at(keys.snapshot(snapshotId));
    const partitions = await this.#glue.list("event_snapshots", account);
    const there = new Map(partitions.map(({ values, location }) => [values[1] ?? "", location]));
    const kept = new Set([head.snapshot_id]);
    for (const { snapshotId, isRetired } of await listSnapshots(store)) {
      if (!isRetired) kept.add(snapshotId);
    }
    const absent = [...kept].filter((snapshotId) => there.get(snapshotId) !== locationOf(snapshotId));
    await this.#putSnapshots(await publishedAmong(store, absent, behind), store);
    const over = [...there.keys()].filter((snapshotId) => !kept.has(snapshotId));
    await this.#glue.remove(
      "event_snapshots",
      over.map((snapshotId) => [account, snapshotId]),
    );
  }

  /** The number of the publication that `events` shows; "" for none. */
  async #shownAt(account: string): Promise<string> {
    return (await this.#glue.find("events", [account]))?.parameters?.[PUBLICATION] ?? "";
  }

  #at(prefix: string): string {
    return `${this.#location}/${prefix}`;
  }
}

function foreign(table: string, what: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `The table ${table} does not match this program's stack: ${what}. Deploy the stack, which corrects its columns; nothing is published until then.`,
    { fields: { table } },
  );
}

/** The snapshots that a publication names, oldest first: held ones, and those of failed runs, are in no table. */
async function publishedAmong(
  store: AccountStore,
  snapshotIds: readonly string[],
  behind: readonly Publication[],
): Promise<readonly string[]> {
  // The publications that are new to the catalog are known already, so no clock matters.
  const isNew = new Set(behind.map(({ snapshot_id: snapshotId }) => snapshotId));
  const found = snapshotIds.filter((snapshotId) => isNew.has(snapshotId));
  const sought = new Set(snapshotIds.filter((snapshotId) => !isNew.has(snapshotId)));
  const [oldest] = [...sought].sort();
  if (oldest === undefined) return found.sort();
  for await (const { snapshot_id: snapshotId } of publicationsSince(store, oldest)) {
    if (sought.delete(snapshotId)) found.push(snapshotId);
    if (sought.size === 0) break;
  }
  return found.sort();
}
