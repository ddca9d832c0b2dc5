// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts. For an account
// that cannot be read it keeps what it had.

import { resolve, sep } from "node:path";
import * as z from "zod";
import { SyncError } from "../../errors/sync-error.ts";
import { incompleteUnits, keptSnapshots, partSizes } from "../../snapshot/files/units.ts";
import { readColumns } from "../../snapshot/rows/table-columns.ts";
import { accountsIn, type DamagedAccount, orDamage } from "../../storage/known-accounts.ts";
import { FOLDERS, isOfLayout, VIEWS_FILE } from "../../storage/layout.ts";
import { type PublishedUnits, publishedUnits, readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import {
  type AccountStore,
  accountStore,
  SELDOM_PARSED,
  type Store,
  type StoredObject,
} from "../../storage/store.ts";
import type { Catalog } from "../catalog.ts";
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
        `The warehouse ${this.directory} has a backslash in its path, which DuckDB cannot read. Choose another directory with --warehouse.`,
      );
    }
  }

  /** From a fresh reading of all accounts' logs: these, and the SQL that defines the five tables and the views over them. */
  async read(): Promise<ReadTables> {
    return this.#read(await this.#store.read(VIEWS_FILE));
  }

  /** @param own the account that must be readable */
  async #read(views: StoredObject | undefined, own?: string): Promise<ReadTables> {
    const lists = listsIn(views);
    const [accounts, columns, hasRunLogs] = await Promise.all([
      accountsIn(this.#store, FOLDERS.publications).then((names) =>
        Array.fromAsync(names, (name) => this.#logOf(name, lists.get(name), name === own)),
      ),
      readColumns(this.#store),
      this.#hasRunLogs(),
    ]);
    const definitions = viewsSql({ directory: this.directory, accounts, columns, hasRunLogs });
    return { accounts, sql: [definitions, LISTS, ...accounts.map(listLine), ""].join("\n") };
  }

  /** The log is read first: the files of a publication are there before it is. */
  async #logOf(account: string, listed: List | undefined, mustBeRead: boolean): Promise<AccountLog> {
    const store = accountStore(this.#store, account);
    const read = await orDamage(account, async () => {
      const { publications, removal } = await readLogSince(store, "");
      // Behind its last file there is nothing to find: this only fails where the store refuses one.
      await Array.fromAsync(store.list(store.keys.runLogs, `${store.keys.runLogs}~`));
      return filesOf(store, publications, removal?.publication, listed);
    });
    if (!("damage" in read)) return { ...read, damage: undefined };
    if (mustBeRead) throw read.damage;
    this.#report(read);
    const { publications = [], removal } = listed ?? {};
    const left = await orDamage(account, () => filesOf(store, publications, removal, listed));
    const nothing = { account, log: [], removal, snapshots: [], incomplete: [] };
    return { ...("damage" in left ? nothing : left), damage: read.damage };
  }

  #report(damaged: DamagedAccount): void {
    if (this.#reported.has(damaged.account)) return;
    this.#reported.add(damaged.account);
    this.#onDamage(damaged);
  }

  /** One file serves all accounts, so it is rendered from all of them. Without an account no damage is thrown. */
  async refresh(account?: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // Read before the logs: a process that replaces it in between makes this replacement fail.
      const current = await this.#store.read(VIEWS_FILE);
      const { sql: text } = await this.#read(current, account);
      const sql = new TextEncoder().encode(text);
      if (current && Buffer.from(current.bytes).equals(sql)) return;
      const written = current
        ? await this.#store.replace(VIEWS_FILE, sql, current.version)
        : await this.#store.create(VIEWS_FILE, sql);
      if (written !== undefined) return;
    }
    throw new SyncError(
      "CATALOG_FAILED",
      `Other processes have replaced ${VIEWS_FILE} ${MAX_TRIES} times while this one tried to. The snapshots are safe; start again when fewer runs are active.`,
    );
  }

  async #hasRunLogs(): Promise<boolean> {
    for await (const { key } of this.#store.list(FOLDERS.runLogs)) if (isOfLayout(key)) return true;
    return false;
  }
}

/** Finds the files of the units that this log of the account names. */
async function filesOf(
  store: AccountStore,
  log: readonly PublishedUnits[],
  removal: string | undefined,
  listed: List | undefined,
): Promise<Omit<AccountLog, "damage">> {
  const { account } = store;
  const snapshots = await listSnapshots(store);
  const incomplete = await incompleteUnits(store, log, snapshots, listed?.whole);
  return { account, log, removal, snapshots, incomplete };
}

const LIST = z.object({
  account: z.string(),
  publications: z.array(publishedUnits),
  removal: z.string().optional(),
  /** The sizes of the parts of each snapshot that lacked nothing. */
  whole: z.record(z.string(), z.array(z.int().nonnegative())),
});
type List = Readonly<z.infer<typeof LIST>>;

const LISTS = "-- What each account has, for the next replacement. It counts where a log is damaged.";
const LINE = "-- has ";

/**
 * A comment for `views.sql`, one line: everything that is needed to list the account's files again. With the removal no
 * two texts are the same before and after it, so that a process that was stopped before it does not replace the later one.
 */
function listLine({ account, log, removal, snapshots, incomplete }: AccountLog): string {
  const publications = log.map((each) => publishedUnits.parse(each, SELDOM_PARSED));
  const whole = new Set(keptSnapshots(log, snapshots).map(({ snapshot_id }) => snapshot_id));
  for (const { holds, publication } of incomplete)
    if (holds === "snapshot") whole.delete(publication.snapshot_id);
  const sizes = snapshots.flatMap(({ snapshotId, files }) =>
    whole.has(snapshotId) ? [[snapshotId, partSizes(files)]] : [],
  );
  return `${LINE}${JSON.stringify({ account, removal, publications, whole: Object.fromEntries(sizes) })}`;
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
