// The catalog on a laptop: `views.sql` in the warehouse, which follows the publication logs of all accounts.

import { resolve, sep } from "node:path";
import { isDamage, SyncError } from "../../errors/sync-error.ts";
import {
  type DamagedUnit,
  incompleteUnits,
  keptSnapshots,
  lostChanges,
  partSizes,
} from "../../snapshot/files/units.ts";
import { readColumns } from "../../snapshot/rows/table-columns.ts";
import { accountsIn, type DamagedAccount } from "../../storage/known-accounts.ts";
import { FOLDERS, isOfLayout, VIEWS_FILE } from "../../storage/layout.ts";
import { readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import { type AccountStore, accountStore, type Store, type StoredObject } from "../../storage/store.ts";
import type { Catalog } from "../catalog.ts";
import { type AccountLog, listedIn, viewsSql } from "./views-sql.ts";

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
  /** The same, without these units. */
  readonly without: (units: readonly DamagedUnit[]) => string;
}

type Lists = ReturnType<typeof listedIn>;

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

  /** The SQL that defines the five tables and the views over them. */
  async render(): Promise<string> {
    return (await this.read()).sql;
  }

  /** From a fresh reading of all accounts' logs: these, and the SQL that defines the tables over them. */
  async read(): Promise<ReadTables> {
    return this.#read(listsOf(await this.#store.read(VIEWS_FILE)));
  }

  /** @param own the account whose damage is thrown */
  async #read(lists: Lists, own?: string): Promise<ReadTables> {
    const [logs, columns, hasRunLogs] = await Promise.all([
      this.#logs(lists, own),
      readColumns(this.#store),
      this.#hasRunLogs(),
    ]);
    const files = { directory: this.directory, accounts: logs, columns, hasRunLogs };
    const incomplete = logs.flatMap((log) => log.incomplete);
    return {
      accounts: logs,
      sql: viewsSql({ ...files, leftOut: incomplete }),
      without: (leftOut) => viewsSql({ ...files, leftOut }),
    };
  }

  async #logs(lists: Lists, own: string | undefined): Promise<readonly AccountLog[]> {
    const logs: AccountLog[] = [];
    for (const account of await accountsIn(this.#store, FOLDERS.publications)) {
      logs.push(await this.#logOf(account, lists, account === own));
    }
    return logs;
  }

  /** The log is read first: the files of a publication are there before it is. */
  async #logOf(account: string, lists: Lists, mustBeRead: boolean): Promise<AccountLog> {
    const store = accountStore(this.#store, account);
    const listed = lists.get(account);
    let damage: SyncError | undefined;
    const { log, removal } = await publicationsOf(store).catch((error: unknown) => {
      if (!isDamage(error) || mustBeRead) throw error;
      damage = error;
      this.#report({ account, damage });
      return listed ?? { log: [], removal: undefined };
    });
    const snapshots = await listSnapshots(store);
    const retired = new Set(
      snapshots.filter(({ isRetired }) => isRetired).map(({ snapshotId }) => snapshotId),
    );
    const incomplete = await incompleteUnits(store, log, snapshots, listed?.whole);
    const lacking = new Set(
      incomplete
        .filter(({ holds }) => holds === "snapshot")
        .map(({ publication: { snapshot_id } }) => snapshot_id),
    );
    const kept = new Set(keptSnapshots(log, retired).map(({ snapshot_id }) => snapshot_id));
    const whole = snapshots
      .filter(({ snapshotId }) => kept.has(snapshotId) && !lacking.has(snapshotId))
      .map(({ snapshotId, files }) => [snapshotId, partSizes(files)] as const);
    const lost = await lostChanges(store);
    return { account, log, removal, retired, lost, incomplete, whole: new Map(whole), damage };
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
      const { sql: text } = await this.#read(listsOf(current), account);
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

async function publicationsOf(store: AccountStore): Promise<Pick<AccountLog, "log" | "removal">> {
  const { publications, removal } = await readLogSince(store, "");
  return { log: publications, removal: removal?.publication };
}

function listsOf(views: StoredObject | undefined): Lists {
  return listedIn(views === undefined ? "" : new TextDecoder().decode(views.bytes));
}
