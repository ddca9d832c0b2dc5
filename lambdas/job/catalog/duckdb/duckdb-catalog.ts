// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts.

import { resolve, sep } from "node:path";
import { SyncError } from "../../errors/sync-error.ts";
import { tableColumns } from "../../snapshot/rows/table-columns.ts";
import { FOLDERS, VIEWS_FILE } from "../../storage/layout.ts";
import { accounts, readLog } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import type { Store } from "../../storage/store.ts";
import type { RemovableCatalog } from "../catalog.ts";
import type { AccountLog } from "./table-folders.ts";
import { viewsSql } from "./views-sql.ts";

const MAX_TRIES = 10;

export interface DuckdbCatalogOptions {
  readonly store: Store;
  /** Where the store's files lie. */
  readonly directory: string;
}

export interface ReadTables {
  readonly sql: string;
  readonly accounts: readonly AccountLog[];
}

export class DuckdbCatalog implements RemovableCatalog {
  readonly directory: string;
  readonly #store: Store;

  /** Throws `CONFIG_INVALID` for a directory that DuckDB's file patterns cannot name. */
  constructor({ store, directory }: DuckdbCatalogOptions) {
    this.#store = store;
    this.directory = resolve(directory);
    if (sep === "/" && this.directory.includes("\\")) {
      throw new SyncError(
        "CONFIG_INVALID",
        `The warehouse ${this.directory} has a backslash in its path, which DuckDB cannot read. Choose another directory with --warehouse.`,
      );
    }
  }

  /** The SQL that defines the five tables and the views over them. */
  async render(): Promise<string> {
    return (await this.read()).sql;
  }

  /** From a fresh reading of all accounts' logs: these, and the SQL that defines the tables over them. */
  read(): Promise<ReadTables> {
    return this.#read(undefined);
  }

  async #read(without: string | undefined): Promise<ReadTables> {
    const [logs, { names: columns, types }, hasRunLogs] = await Promise.all([
      this.#logs(without),
      tableColumns(this.#store, without),
      this.#hasRunLogs(),
    ]);
    const sql = viewsSql({ directory: this.directory, accounts: logs, columns, types, hasRunLogs });
    return { sql, accounts: logs };
  }

  async #logs(without: string | undefined): Promise<readonly AccountLog[]> {
    const logs: AccountLog[] = [];
    for (const account of await accounts(this.#store)) {
      if (account === without) continue;
      const [snapshots, log] = await Promise.all([
        listSnapshots(this.#store, account),
        readLog(this.#store, account),
      ]);
      const retired = snapshots.filter(({ isRetired }) => isRetired).map(({ snapshotId }) => snapshotId);
      logs.push({ account, log, retired: new Set(retired) });
    }
    return logs;
  }

  /** From a fresh reading of all accounts' heads. */
  async columns(): Promise<readonly string[]> {
    return (await tableColumns(this.#store)).names;
  }

  /** One file serves all accounts, so it is rendered from all of them. */
  refresh(): Promise<void> {
    return this.#replace(undefined);
  }

  /** Renders it from the other accounts. Nothing of this account is read, so damage of it does no harm. */
  remove(account: string): Promise<void> {
    return this.#replace(account);
  }

  async #replace(without: string | undefined): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // Read before the logs: a process that replaces it in between makes this replacement fail.
      const current = await this.#store.read(VIEWS_FILE);
      const sql = new TextEncoder().encode((await this.#read(without)).sql);
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
    for await (const _ of this.#store.list(FOLDERS.runLogs)) return true;
    return false;
  }
}
