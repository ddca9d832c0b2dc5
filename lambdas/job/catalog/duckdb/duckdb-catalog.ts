// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts. For an account
// that cannot be read it keeps what it had.

import { resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
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
import { type PublishedUnits, publishedUnits } from "../../storage/publication.ts";
import { readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots, readSnapshotFiles, type SnapshotFiles } from "../../storage/snapshot-marks.ts";
import {
  type AccountStore,
  accountStore,
  SELDOM_PARSED,
  type Store,
  type StoredObject,
} from "../../storage/store.ts";
import { type Catalog, tablesBehind } from "../catalog.ts";
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
    if (sep === "/" && this.directory.includes("\\")) {
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
    const isNew = behind !== undefined && !behind.has("event_snapshots") && !behind.has("event_changes");
    return this.#read(await this.#store.read(VIEWS_FILE), { isNew, tables: behind });
  }

  async #read(views: StoredObject | undefined, { own, isNew = false, tables }: Reading): Promise<ReadTables> {
    const lists = listsIn(views);
    const logOf = (name: string): Promise<ListedLog> | ListedLog => {
      const listed = lists.get(name);
      const isLeft = isNew && own !== undefined && name !== own && listed?.lacking !== undefined;
      return isLeft ? { ...listedLog(listed), damage: undefined } : this.#logOf(name, listed, { own, isNew });
    };
    const [accounts, columns, hasRunLogs] = await Promise.all([
      accountsIn(this.#store, FOLDERS.publications).then((names) => Array.fromAsync(names, logOf)),
      readColumns(this.#store),
      this.#hasRunLogs(),
    ]);
    const definitions = viewsSql({ directory: this.directory, accounts, columns, hasRunLogs, tables });
    return { accounts, sql: [definitions, LISTS, ...accounts.map(listLine), ""].join("\n") };
  }

  /** The log is read first: the files of a publication are there before it is. */
  async #logOf(account: string, listed: List | undefined, { own, isNew }: Reading): Promise<ListedLog> {
    const store = accountStore(this.#store, account);
    const read = await orDamage(account, async () => {
      // Behind its last file there is nothing to find: this only fails where the store refuses one.
      await Array.fromAsync(store.list(store.keys.runLogs, `${store.keys.runLogs}~`));
      const longer = isNew && listed ? await followed(store, listed) : undefined;
      if (longer) return longer;
      const { publications, removal } = await readLogSince(store, "");
      return filesOf(store, publications, removal?.publication, listed);
    });
    if (!("damage" in read)) return { ...read, damage: undefined };
    if (account === own) throw read.damage;
    this.#report(read);
    const { publications = [], removal } = listed ?? {};
    const left = await orDamage(account, () => filesOf(store, publications, removal, listed));
    const nothing = { account, log: [], removal, kept: [], whole: {}, incomplete: [] };
    return { ...("damage" in left ? nothing : left), damage: read.damage };
  }

  #report(damaged: DamagedAccount): void {
    if (this.#reported.has(damaged.account)) return;
    this.#reported.add(damaged.account);
    this.#onDamage(damaged);
  }

  /** One file serves all accounts, so it is rendered from all of them. Without an account no damage is thrown. */
  async refresh(account?: string, what?: "new"): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // Read before the logs: a process that replaces it in between makes this replacement fail.
      const current = await this.#store.read(VIEWS_FILE);
      const { sql: text } = await this.#read(current, { own: account, isNew: what === "new" });
      const sql = new TextEncoder().encode(text);
      if (current && Buffer.from(current.bytes).equals(sql)) return;
      const written = current
        ? await this.#store.replace(VIEWS_FILE, sql, current.version)
        : await this.#store.create(VIEWS_FILE, sql);
      if (written !== undefined) return;
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
  /** The account that must be readable. */
  readonly own?: string | undefined;
  /** Only what `views.sql` does not list yet, and the heads; where an account is named, nothing of others that are listed. */
  readonly isNew?: boolean;
  /** Those that are defined with rows; all where it is absent. */
  readonly tables?: ReadonlySet<string> | undefined;
}

/** With the sizes of the parts of each snapshot that is shown and lacks nothing. */
interface ListedLog extends AccountLog {
  readonly whole: Readonly<Record<string, readonly number[]>>;
}

/** Finds the files of the units that this log of the account names. */
async function filesOf(
  store: AccountStore,
  log: readonly PublishedUnits[],
  removal: string | undefined,
  listed: List | undefined,
): Promise<Omit<ListedLog, "damage">> {
  const { account } = store;
  const snapshots = await listSnapshots(store);
  const incomplete = await incompleteUnits(store, log, snapshots, listed?.whole);
  const kept = keptSnapshots(log, snapshots);
  return { account, log, removal, kept, incomplete, whole: wholeOf(kept, snapshots, incomplete) };
}

/**
 * What is listed, and what was published since: only its files are looked at. Undefined where the log does not go on from
 * what is listed: the account was removed, or a copy was put back.
 */
async function followed(store: AccountStore, listed: List): Promise<Omit<ListedLog, "damage"> | undefined> {
  const last = listed.publications.at(-1);
  if (last === undefined || listed.lacking === undefined) return undefined;
  const since = await readLogSince(store, publicationId(Number(last.publication) - 1));
  const [standing, ...added] = since.publications;
  const isSame = standing && isDeepStrictEqual(unitsOnly(standing), unitsOnly(last));
  if (!isSame) return undefined;
  const old = listedLog(listed);
  // The head is looked at whenever tables are made.
  const looked = added.length > 0 ? added : [last];
  const snapshots: SnapshotFiles[] = [];
  for (const { snapshot_id: snapshotId } of looked)
    snapshots.push(await readSnapshotFiles(store, snapshotId));
  const before = publicationId(Number(looked[0]?.publication) - 1);
  const incomplete = await incompleteUnits(store, looked, snapshots, listed.whole, before);
  const units = looked.flatMap((publication) =>
    (["snapshot", "changes"] as const).map((holds) =>
      folderOf({ account: store.account, holds, publication }),
    ),
  );
  const isOld = (unit: Unit): boolean => !units.includes(folderOf(unit));
  const isOldSnapshot = (publication: PublishedUnits): boolean =>
    isOld({ account: store.account, holds: "snapshot", publication });
  const kept = keptSnapshots([...old.kept.filter(isOldSnapshot), ...looked], snapshots);
  return {
    ...old,
    log: [...old.log, ...added],
    kept,
    incomplete: [...old.incomplete.filter(isOld), ...incomplete],
    whole: { ...old.whole, ...wholeOf(kept, snapshots, incomplete) },
  };
}

const unitsOnly = (publication: PublishedUnits): PublishedUnits =>
  publishedUnits.parse(publication, SELDOM_PARSED);

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

const LACKING = z.object({
  holds: z.enum(["snapshot", "changes"]),
  publication: publishedUnits,
  key: z.string(),
  message: z.string(),
});

const LIST = z.object({
  account: z.string(),
  publications: z.array(publishedUnits),
  removal: z.string().optional(),
  /** The sizes of the parts of each snapshot that lacked nothing. */
  whole: z.record(z.string(), z.array(z.int().nonnegative()).readonly()),
  /**
   * The units that lack a file. Absent where the account could not be read, and in lists of earlier versions: from these
   * nothing is carried on.
   */
  lacking: z.array(LACKING).optional(),
});
type List = Readonly<z.infer<typeof LIST>>;

const LISTS = "-- What each account has, for the next replacement. It counts where a log is damaged.";
const LINE = "-- has ";

/**
 * A comment for `views.sql`, one line: everything that is needed to list the account's files again. With the removal no
 * two texts are the same before and after it, so that a process that was stopped before it does not replace the later one.
 */
function listLine({ account, log, removal, whole, incomplete, damage }: ListedLog): string {
  const lacking = incomplete.map(({ holds, publication, damage }) => ({
    holds,
    publication: unitsOnly(publication),
    key: String(damage.fields["key"]),
    message: damage.message,
  }));
  const publications = log.map(unitsOnly);
  const list: List = { account, removal, publications, whole, lacking: damage ? undefined : lacking };
  return `${LINE}${JSON.stringify(list)}`;
}

/** What the line says, as it was read. */
function listedLog({
  account,
  publications: log,
  removal,
  whole,
  lacking = [],
}: List): Omit<ListedLog, "damage"> {
  const incomplete = lacking.map(({ holds, publication, key, message }) => ({
    account,
    holds,
    publication,
    damage: new SyncError("STORE_CORRUPT", message, { fields: { key } }),
  }));
  const lost = new Set(
    incomplete.flatMap(({ holds, publication }) => (holds === "snapshot" ? [publication.snapshot_id] : [])),
  );
  const isKept = ({ snapshot_id }: PublishedUnits): boolean => snapshot_id in whole || lost.has(snapshot_id);
  const kept = keptSnapshots(log.filter(isKept), []);
  return { account, log, removal, kept, whole, incomplete };
}

/** From the comments of a `views.sql`, by account. Lines that are something else are left aside. */
function listsIn(views: StoredObject | undefined): ReadonlyMap<string, List> {
  const lines = new TextDecoder().decode(views?.bytes).split("\n");
  const lists = lines.flatMap((line) => (line.startsWith(LINE) ? (parseList(line) ?? []) : []));
  return new Map(lists.map((list) => [list.account, list]));
}

function parseList(line: string): List | undefined {
  try {
    return LIST.safeParse(JSON.parse(line.slice(LINE.length)), SELDOM_PARSED).data;
  } catch {
    return undefined;
  }
}
