// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts. For an account
// that cannot be read it keeps what it had.

import { resolve, sep } from "node:path";
import { advise, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import {
  type DamagedUnit,
  folderOf,
  incompleteUnits,
  keptSnapshots,
  partSizes,
  type Unit,
} from "../../snapshot/files/units.ts";
import { readColumns } from "../../snapshot/rows/table-columns.ts";
import { accountsIn, type DamagedAccount, orDamage } from "../../storage/known-accounts.ts";
import { FOLDERS, isOfLayout, publicationId, VIEWS_FILE } from "../../storage/layout.ts";
import type { Publication, PublishedUnits } from "../../storage/publication.ts";
import { readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots, readSnapshotFiles, type SnapshotFiles } from "../../storage/snapshot-marks.ts";
import { type AccountStore, accountStore, type Store, type StoredObject, swap } from "../../storage/store.ts";
import { type Catalog, tablesBehind } from "../catalog.ts";
import { LISTS, type List, type ListedLog, listedLog, listLine, listsIn } from "./views-lists.ts";
import { type AccountLog, viewsSql } from "./views-sql.ts";

const MAX_TRIES = 10;

interface DuckdbCatalogOptions {
  readonly store: Store;
  /** Where the store's files lie. */
  readonly directory: string;
  /** Called once for each account that cannot be read, when that is found. */
  readonly onDamage?: ((damaged: DamagedAccount) => void) | undefined;
}

interface ReadTables {
  readonly accounts: readonly AccountLog[];
  /** Defines the tables, without the units that lack a file. */
  readonly sql: string;
}

export class DuckdbCatalog implements Catalog {
  readonly directory: string;
  readonly #store: Store;
  readonly #onDamage: (damaged: DamagedAccount) => void;
  readonly #reported = new Set<string>();

  /** Throws `CONFIG_INVALID` for a directory that DuckDB's file patterns cannot name. */
  constructor({ store, directory, onDamage = () => undefined }: DuckdbCatalogOptions) {
    this.#store = store;
    this.#onDamage = onDamage;
    this.directory = resolve(directory);
    if (this.directory.split(sep).some((name) => name.includes("\\"))) {
      throw new SyncError(
        "CONFIG_INVALID",
        `The warehouse ${this.directory} has a backslash in its path, which DuckDB cannot read.`,
        { next: advise`Choose another directory with ${setting("warehouse")}.` },
      );
    }
  }

  /**
   * From a fresh reading of all accounts' logs: these, and the SQL that defines the five tables and the views over them.
   * @param tables the names of those that will be read, in lower case, with others; the rest is defined without rows. Without
   * the tables of all snapshots or changes, only what is not listed yet and the head is looked at
   */
  async read(tables?: ReadonlySet<string>): Promise<ReadTables> {
    const behind = tables && tablesBehind(tables);
    const isOfAll = behind === undefined || behind.has("event_snapshots") || behind.has("event_changes");
    const looksAt = isOfAll ? "all" : "what is new";
    return this.#read(await this.#store.read(VIEWS_FILE), { looksAt, tables: behind });
  }

  async #read(views: StoredObject | undefined, reading: Reading): Promise<ReadTables> {
    const { own, tables } = reading;
    const lists = listsIn(views);
    const logOf = (name: string): Promise<ListedLog> | ListedLog => {
      const listed = lists.get(name);
      const isLeft = own !== undefined && name !== own && listed?.lacking !== undefined;
      return isLeft
        ? { ...listedLog(listed), damage: undefined, line: listed.line }
        : this.#logOf(name, listed, reading);
    };
    const [accounts, columns, hasRunLogs] = await Promise.all([
      accountsIn(this.#store, FOLDERS.publications).then((names) => Array.fromAsync(names, logOf)),
      readColumns(this.#store),
      this.#hasRunLogs(),
    ]);
    const definitions = viewsSql({ directory: this.directory, accounts, columns, hasRunLogs, tables });
    const lines = accounts.map((each) => each.line ?? listLine(each));
    return { accounts, sql: [definitions, LISTS, ...lines, ""].join("\n") };
  }

  /** The log is read first: the files of a publication are there before it is. */
  async #logOf(account: string, listed: List | undefined, { own, looksAt }: Reading): Promise<ListedLog> {
    const store = accountStore(this.#store, account);
    const read = await orDamage(account, async () => {
      // Behind its last file there is nothing to find: this only fails where the store refuses one.
      await Array.fromAsync(store.list(store.keys.runLogs, `${store.keys.runLogs}~`));
      const longer = looksAt !== "all" && listed ? await followed(store, listed) : undefined;
      if (longer && looksAt === "what is new") return lookedAtNew(store, longer);
      return filesOf(store, longer ?? (await wholeLog(store)), listed);
    });
    if (!("damage" in read)) return { ...read, damage: undefined };
    if (account === own) throw read.damage;
    this.#report(read);
    const { publications: log = [], removal, write_id: writeId } = listed ?? {};
    const left = await orDamage(account, () => filesOf(store, { log, removal, writeId }, listed));
    const nothing = { account, log: [], removal, writeId, kept: [], whole: {}, incomplete: [] };
    return { ...("damage" in left ? nothing : left), damage: read.damage };
  }

  #report(damaged: DamagedAccount): void {
    if (this.#reported.has(damaged.account)) return;
    this.#reported.add(damaged.account);
    this.#onDamage(damaged);
  }

  /** One file serves all accounts, so it is rendered from all of them. Without an account no damage is thrown. */
  async refresh(account?: string, what?: "new"): Promise<void> {
    const looksAt = account === undefined ? "all" : what === "new" ? "what is new" : "what is listed";
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // Read before the logs: a process that replaces it in between makes this replacement fail.
      const current = await this.#store.read(VIEWS_FILE);
      const { sql: text } = await this.#read(current, { own: account, looksAt });
      const sql = new TextEncoder().encode(text);
      if (current && Buffer.from(current.bytes).equals(sql)) return;
      if ((await swap(this.#store, VIEWS_FILE, sql, current?.version)) !== undefined) return;
    }
    throw new SyncError(
      "CATALOG_FAILED",
      `Other processes have replaced ${VIEWS_FILE} ${MAX_TRIES} times while this one tried to. The snapshots are safe.`,
      { next: "Start again when fewer runs are active." },
    );
  }

  async #hasRunLogs(): Promise<boolean> {
    for await (const { key } of this.#store.list(FOLDERS.runLogs)) if (isOfLayout(key)) return true;
    return false;
  }
}

/** What is read of the accounts. */
interface Reading {
  /** The account that must be readable; others that are listed are not looked at. */
  readonly own?: string | undefined;
  /**
   * `all`: the whole log, and the files of all that it names. `what is listed`: the same files, with the log as `views.sql`
   * lists it and what came since. `what is new`: of these only the head and what `views.sql` does not list yet.
   */
  readonly looksAt: "all" | "what is listed" | "what is new";
  /** The tables that are defined with rows; all where it is absent. */
  readonly tables?: ReadonlySet<string> | undefined;
}

/** What the publication log says. */
type Log = Pick<ListedLog, "log" | "removal" | "writeId">;

async function wholeLog(store: AccountStore): Promise<Log> {
  const { publications: log, removal } = await readLogSince(store, "");
  return { log, removal: removal?.publication, writeId: log.at(-1)?.write_id };
}

/** Finds the files of the units that this log of the account names. */
async function filesOf(
  store: AccountStore,
  named: Log,
  listed: List | undefined,
): Promise<Omit<ListedLog, "damage">> {
  const { account } = store;
  const { log } = named;
  const snapshots = await listSnapshots(store);
  const incomplete = await incompleteUnits(store, log, snapshots, listed?.whole);
  const kept = keptSnapshots(log, snapshots);
  return { account, ...named, kept, incomplete, whole: wholeOf(kept, snapshots, incomplete) };
}

interface FollowedLog extends Log {
  readonly listed: List;
  /** What was published since it was listed. */
  readonly added: readonly Publication[];
}

/**
 * The log as it is listed, and what was published since. Undefined where the log does not go on from what is listed: the
 * account was removed, or a copy was put back.
 */
async function followed(store: AccountStore, listed: List): Promise<FollowedLog | undefined> {
  const last = listed.publications.at(-1);
  if (last === undefined || listed.lacking === undefined) return undefined;
  const since = await readLogSince(store, publicationId(Number(last.publication) - 1));
  const [standing, ...added] = since.publications;
  if (standing === undefined || standing.write_id !== listed.write_id) return undefined;
  const writeId = since.publications.at(-1)?.write_id;
  return { log: [...listed.publications, ...added], removal: listed.removal, writeId, listed, added };
}

/** What is listed, as it was found, and what was published since: only its files are looked at, or those of the head. */
async function lookedAtNew(
  store: AccountStore,
  { listed, added, ...named }: FollowedLog,
): Promise<Omit<ListedLog, "damage">> {
  const old = listedLog(listed);
  // The head is looked at whenever tables are made.
  const looked = added.length > 0 ? added : named.log.slice(-1);
  const snapshots: SnapshotFiles[] = [];
  for (const { snapshot_id: snapshotId } of looked)
    snapshots.push(await readSnapshotFiles(store, snapshotId));
  const before = publicationId(Number(looked[0]?.publication) - 1);
  const incomplete = await incompleteUnits(store, looked, snapshots, listed.whole, before);
  const units = new Set(
    looked.flatMap((publication) =>
      (["snapshot", "changes"] as const).map((holds) =>
        folderOf({ account: store.account, holds, publication }),
      ),
    ),
  );
  const isOld = (unit: Unit): boolean => !units.has(folderOf(unit));
  const isOldSnapshot = (publication: PublishedUnits): boolean =>
    isOld({ account: store.account, holds: "snapshot", publication });
  const kept = keptSnapshots([...old.kept.filter(isOldSnapshot), ...looked], snapshots);
  return {
    ...old,
    ...named,
    kept,
    incomplete: [...old.incomplete.filter(isOld), ...incomplete],
    whole: { ...old.whole, ...wholeOf(kept, snapshots, incomplete) },
  };
}

function wholeOf(
  kept: readonly PublishedUnits[],
  snapshots: readonly SnapshotFiles[],
  incomplete: readonly DamagedUnit[],
): ListedLog["whole"] {
  const whole = new Set(kept.map(({ snapshot_id }) => snapshot_id));
  for (const { holds, publication } of incomplete)
    if (holds === "snapshot") whole.delete(publication.snapshot_id);
  const sizes = snapshots.flatMap(({ snapshotId, files }) =>
    whole.has(snapshotId) ? [[snapshotId, partSizes(files)]] : [],
  );
  return Object.fromEntries(sizes);
}
