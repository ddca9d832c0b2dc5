// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts.

import { resolve, sep } from "node:path";
import { SyncError } from "../../errors/sync-error.ts";
import { type DamagedUnit, incompleteUnits, lostChanges } from "../../snapshot/files/units.ts";
import { readColumns } from "../../snapshot/rows/table-columns.ts";
import { accountsIn, type DamagedAccount, orDamage } from "../../storage/known-accounts.ts";
import { FOLDERS, isOfLayout, VIEWS_FILE } from "../../storage/layout.ts";
import { readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import { accountStore, type Store, type StoredObject } from "../../storage/store.ts";
import type { Catalog } from "../catalog.ts";
import { type AccountLog, type ListedLog, listedIn, viewsSql } from "./views-sql.ts";

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
  /** Defines the tables, without the units that lack a file, or without these. */
  readonly sql: (leftOut?: readonly DamagedUnit[]) => string;
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

  /** @param own the account whose damage is thrown */
  async #read(views: StoredObject | undefined, own?: string): Promise<ReadTables> {
    const lists = listedIn(views === undefined ? "" : new TextDecoder().decode(views.bytes));
    const [accounts, columns, hasRunLogs] = await Promise.all([
      accountsIn(this.#store, FOLDERS.publications).then((names) =>
        Array.fromAsync(names, (name) => this.#logOf(name, lists.get(name), name === own)),
      ),
      readColumns(this.#store),
      this.#hasRunLogs(),
    ]);
    const files = { directory: this.directory, accounts, columns, hasRunLogs };
    const incomplete = accounts.flatMap((account) => account.incomplete);
    return { accounts, sql: (leftOut = incomplete) => viewsSql({ ...files, leftOut }) };
  }

  /** The log is read first: the files of a publication are there before it is. */
  async #logOf(account: string, listed: ListedLog | undefined, mustBeRead: boolean): Promise<AccountLog> {
    const store = accountStore(this.#store, account);
    const read = await orDamage(account, () => readLogSince(store, ""));
    const isDamaged = "damage" in read;
    if (isDamaged && mustBeRead) throw read.damage;
    if (isDamaged) this.#report(read);
    const found = isDamaged ? listed : { log: read.publications, removal: read.removal?.publication };
    const { log, removal } = found ?? { log: [], removal: undefined };
    const snapshots = await listSnapshots(store);
    const incomplete = await incompleteUnits(store, log, snapshots, listed?.whole);
    const lost = await lostChanges(store);
    const damage = isDamaged ? read.damage : undefined;
    return { account, log, removal, snapshots, lost, incomplete, damage };
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
      const sql = new TextEncoder().encode(text());
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
