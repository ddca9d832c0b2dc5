// The catalog in AWS: Glue's tables, whose partitions follow the publication log.

import { isDeepStrictEqual } from "node:util";
import { SyncError } from "../../errors/sync-error.ts";
import { publishedOf } from "../../snapshot/files/published-snapshots.ts";
import { listChanges } from "../../snapshot/files/units.ts";
import type { TableName } from "../../storage/layout.ts";
import { publicationsAt } from "../../storage/log-search.ts";
import { hasChanges, type Publication } from "../../storage/publication.ts";
import { findEntry, readEnd, readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import { type AccountStore, accountStore, type Store } from "../../storage/store.ts";
import type { Catalog } from "../catalog.ts";
import { GlueDatabase, type GlueDatabaseOptions, type Partition } from "./glue-database.ts";
import { LIFTED_TABLES } from "./glue-tables.ts";

/** The parameter of the partition of `events` that names the publication it shows. */
const PUBLICATION = "publication";
/** The parameter that names its entry of the log. */
const WRITE_ID = "write_id";
const MAX_TRIES = 10;

interface GlueCatalogOptions extends GlueDatabaseOptions {
  readonly store: Store;
  /** `s3://bucket/prefix`, without a closing slash: where the store's keys begin. */
  readonly location: string;
}

/** What the log says. */
interface Known {
  /** All that count, or those behind what `events` shows. */
  readonly publications: readonly Publication[];
  readonly isAll: boolean;
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
   * `events` first, whose rows readers look at. Only what the log does not name above the removal: another process may have
   * put in what came after it.
   */
  async #takeOut(store: AccountStore, publication: string): Promise<void> {
    const { account } = store;
    const shown = await this.#glue.find("events", [account]);
    const isLater = (shown?.parameters?.[PUBLICATION] ?? "") > publication;
    if (shown && !(isLater && (await this.#isInLog(shown, store))))
      await this.#glue.remove("events", [[account]]);
    const valuesOf = async (table: TableName): Promise<readonly (readonly string[])[]> =>
      (await this.#glue.list(table, account)).map(({ values }) => values);
    const snapshots = await valuesOf("event_snapshots");
    const changes = await valuesOf("event_changes");
    const { publications } = await readLogSince(store, publication);
    const later = new Set(publications.flatMap((each) => [each.publication, each.snapshot_id]));
    const isOver = ([, unit = ""]: readonly string[]): boolean => !later.has(unit);
    await this.#glue.remove("event_snapshots", snapshots.filter(isOver));
    await this.#glue.remove("event_changes", changes.filter(isOver));
    for (const table of ["publications", "sync_runs"] as const)
      await this.#glue.remove(table, await valuesOf(table));
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
    const goesOn = shown !== undefined && (await this.#isInLog(shown, store));
    const since = await readLogSince(store, goesOn ? shownAt : "");
    const { publications, removal } = since;
    // A process that was stopped before the removal may have put partitions back.
    if (removal && removal.publication > shownAt) {
      await this.#takeOut(store, removal.publication);
      await this.#ensureLines(store);
      if (head.publication < removal.publication) return; // read before the removal
    }
    if (!goesOn || looksAtAll) {
      const known = { publications, isAll: !goesOn };
      await this.#refreshChanges(known, store);
      await this.#refreshSnapshots(head, known, store);
    } else {
      await this.#putChanges(publications, store);
      await this.#putSnapshots(new Set(publications.map(({ snapshot_id: snapshotId }) => snapshotId)), store);
    }
    const location = this.#at(keys.snapshot(head.snapshot_id));
    const parameters = { [PUBLICATION]: head.publication, [WRITE_ID]: head.write_id };
    const says = Object.entries(parameters).every(([name, value]) => shown?.parameters?.[name] === value);
    if (shown?.location === location && says) return;
    await this.#glue.put("events", [{ values: [account], location, parameters }]);
  }

  /**
   * Whether the log has the publication that `events` shows: where a backup was put back, its number may stand for another one.
   * Versions that wrote no `write_id` are known by the snapshot.
   */
  async #isInLog({ parameters, location }: Partition, store: AccountStore): Promise<boolean> {
    const publication = parameters?.[PUBLICATION];
    const entry = publication === undefined ? undefined : await findEntry(store, publication);
    if (entry === undefined || entry.action === "remove") return false;
    const writeId = parameters?.[WRITE_ID];
    if (writeId !== undefined) return writeId === entry.write_id;
    return location === this.#at(store.keys.snapshot(entry.snapshot_id));
  }

  /**
   * Changes that lack a file have no partition until it is restored: Athena's views cannot see it, and would show the
   * others. Of a publication that is not known the entry is read only where what lies in the store, and the partition, do
   * not say the same.
   */
  async #refreshChanges({ publications, isAll }: Known, store: AccountStore): Promise<void> {
    const { account, keys } = store;
    const locationOf = (each: Pick<Publication, "publication" | "snapshot_id">): string =>
      this.#at(keys.changes(each.publication, each.snapshot_id));
    const partitions = await this.#glue.list("event_changes", account);
    const there = new Map(partitions.map(({ values, location }) => [values[1] ?? "", location]));
    const listed = Map.groupBy(await listChanges(store), ({ publication }) => publication);
    const wholeAt = (publication: string): readonly string[] =>
      (listed.get(publication) ?? [])
        .filter(({ isWhole }) => isWhole)
        .map(({ snapshotId }) => locationOf({ publication, snapshot_id: snapshotId }));
    const isAsExpected = (publication: string): boolean => {
      const [only, ...others] = wholeAt(publication);
      const isAlone = others.length === 0 && (listed.get(publication)?.length ?? 0) <= 1;
      return isAlone && only === there.get(publication);
    };
    const known = new Set(publications.map(({ publication }) => publication));
    const unsure = [...new Set([...there.keys(), ...listed.keys()])].filter(
      (publication) => !known.has(publication) && (isAll || !isAsExpected(publication)),
    );
    const read = isAll ? [] : await publicationsAt(store, unsure);
    const wanted = [...read, ...publications].filter(
      (each) => hasChanges(each) && wholeAt(each.publication).includes(locationOf(each)),
    );
    await this.#putChanges(
      wanted.filter((each) => there.get(each.publication) !== locationOf(each)),
      store,
    );
    const shown = new Set(wanted.map(({ publication }) => publication));
    const over = [...unsure, ...known].filter(
      (publication) => there.has(publication) && !shown.has(publication),
    );
    await this.#glue.remove(
      "event_changes",
      over.map((publication) => [account, publication]),
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
    { publications, isAll }: Known,
    store: AccountStore,
  ): Promise<void> {
    const { account, keys } = store;
    const locationOf = (snapshotId: string): string => this.#at(keys.snapshot(snapshotId));
    const partitions = await this.#glue.list("event_snapshots", account);
    const there = new Map(partitions.map(({ values, location }) => [values[1] ?? "", location]));
    const named = new Set(publications.map(({ snapshot_id: snapshotId }) => snapshotId));
    const kept = new Set([head.snapshot_id]);
    for (const { snapshotId, isRetired } of await listSnapshots(store))
      if (!isRetired && (named.has(snapshotId) || !isAll)) kept.add(snapshotId);
    const absent = [...kept].filter((snapshotId) => there.get(snapshotId) !== locationOf(snapshotId));
    // Held ones, and those of failed runs, are in no table.
    const unsure = absent.filter((snapshotId) => !named.has(snapshotId));
    const published = await publishedOf(store, unsure);
    const put = absent.filter((snapshotId) => named.has(snapshotId) || published.has(snapshotId));
    await this.#putSnapshots(put.sort(), store);
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
