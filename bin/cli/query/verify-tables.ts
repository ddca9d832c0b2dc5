// What a query shows is what was published: the files of its tables are verified before their first use.

import { constants } from "node:fs";
import { appendFile, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { type AccountLog, UNIT_TABLES, unitsOf } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { tablesBehind } from "../../../lambdas/job/catalog/views/views.ts";
import { damagedHeadRemedy } from "../../../lambdas/job/errors/damaged.ts";
import { damageIn, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import {
  type DamagedUnit,
  describeUnit,
  folderOf,
  type Unit,
} from "../../../lambdas/job/snapshot/files/units.ts";
import {
  checkForeign,
  verifyChanges,
  verifySnapshot,
} from "../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { newModes } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";

interface VerifyTablesOptions {
  readonly store: Store;
  readonly directory: string;
  readonly accounts: readonly AccountLog[];
  /** Names in lower case, of tables and of views over them; others are left aside. */
  readonly tables: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Called with what is left out; without it, damage is thrown. */
  readonly onLeftOut?: ((text: string) => void) | undefined;
}

/**
 * Parts of snapshots against the checksums of their manifests; parts of changes, which have none, against gzip's
 * own and the counts of their publication. Returns what the tables must be made without, if that is more than the units
 * that lack a file. Throws `STORE_CORRUPT` naming the file; the signal's reason when that aborts.
 */
export async function verifyTables(options: VerifyTablesOptions): Promise<readonly DamagedUnit[]> {
  const { store, directory, accounts, signal, onLeftOut } = options;
  const behind = tablesBehind(options.tables);
  const tables = UNIT_TABLES.filter((table) => behind.has(table));
  const units = accounts.flatMap((account) => tables.flatMap((table) => unitsOf(table, account)));
  const needed = new Map(units.map((unit) => [folderOf(unit), unit]));
  const incomplete = accounts.flatMap((account) => account.incomplete);
  const damaged = incomplete.filter((unit) => needed.delete(folderOf(unit)));
  if (onLeftOut === undefined) {
    const unknown = accounts.find(({ log, damage }) => damage !== undefined && log.length === 0);
    if (unknown?.damage && tables.length > 0) throw withRemedy(unknown.damage, ONLY_PARTIAL);
    if (damaged.length > 0) throw unitsDamaged(damaged, accounts);
  }
  const record = await readRecord(directory);
  const proceed = (): void => signal.throwIfAborted();
  const found: DamagedUnit[] = [];
  for (const [folder, unit] of needed) {
    // Looked at before they are read, so that a change in between is seen the next time.
    const files = await look(join(directory, folder));
    if (record.get(folder) === files) continue;
    const damage = await damageIn(verify(accountStore(store, unit.account), unit, proceed));
    if (damage === undefined) await addToRecord(directory, { folder, files });
    else {
      found.push({ ...unit, damage });
      if (onLeftOut === undefined) throw unitsDamaged(found, accounts);
    }
  }
  for (const unit of [...damaged, ...found]) {
    onLeftOut?.(`left out: ${describeUnit(unit)}. ${unit.damage.message}`);
  }
  return found.length === 0 ? [] : [...incomplete, ...found];
}

async function verify(store: AccountStore, { holds, publication }: Unit, proceed: () => void): Promise<void> {
  if (holds === "changes") return verifyChanges(store, publication, proceed);
  await checkForeign(store, await verifySnapshot(store, publication.snapshot_id, proceed), isInView);
}

/** The views name the files by this pattern. */
const isInView = (file: string): boolean => /^part-\d{5}\.ndjson\.gz$/.test(file);

/** How many more files one message names. */
const MAX_NAMED = 10;
const ONLY_PARTIAL = "With --partial, query shows everything else.";

/** The first one's error, with what helps. */
function unitsDamaged(
  [first, ...others]: readonly DamagedUnit[],
  accounts: readonly AccountLog[],
): SyncError {
  if (first === undefined) throw new Error("nothing is damaged");
  const { account, holds, publication, damage } = first;
  const id = publication.snapshot_id;
  const log = accounts.find((each) => each.account === account)?.log ?? [];
  const isOfHead = log.at(-1)?.snapshot_id === id;
  const keys = others.map((unit) => unit.damage.fields["key"]);
  const more = keys.length > MAX_NAMED ? `, and ${keys.length - MAX_NAMED} more` : "";
  const remedies = [
    ...(isOfHead || holds === "changes" ? [damagedHeadRemedy(account)] : []),
    ...(isOfHead || holds === "changes"
      ? []
      : [`Or give up ${describeUnit(first)}: retire ${id} --yes takes it out of the tables.`]),
    ...(keys.length > 0 ? [`Damaged as well: ${keys.slice(0, MAX_NAMED).join(", ")}${more}.`] : []),
    ONLY_PARTIAL,
  ];
  return withRemedy(damage, remedies.join(" "));
}

function withRemedy({ code, message, fields, cause }: SyncError, remedy: string): SyncError {
  return new SyncError(code, `${message} ${remedy}`, { fields, cause });
}

/** The dot keeps it out of every listing of the warehouse. */
const RECORD = ".verified.ndjson";

/** Behind a link there is another file than this one. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/** The names, sizes and times that the parts in the folder had when they were verified. */
const LINE = z.object({ folder: z.string(), files: z.string() });

/**
 * By folder. It only saves time. What cannot be read from it is verified again; where it cannot be written, the next query
 * verifies again. Lines are appended, so that queries at the same time lose nothing of one another.
 */
async function readRecord(directory: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(directory, RECORD), "utf8").catch(() => "");
  const lines = text.split("\n").flatMap((line) => parse(line) ?? []);
  return new Map(lines.map(({ folder, files }) => [folder, files]));
}

async function addToRecord(directory: string, verified: z.infer<typeof LINE>): Promise<void> {
  const { file: mode } = await newModes(directory);
  // The end of a line before it too: the last one may have been cut.
  const line = `\n${JSON.stringify(verified)}\n`;
  await appendFile(join(directory, RECORD), line, { mode, flag: APPEND }).catch(() => undefined);
}

async function look(path: string): Promise<string> {
  const names = await readdir(path).catch(() => []);
  const looks: string[] = [];
  for (const name of names.filter((each) => each.startsWith("part-")).sort()) {
    const found = await stat(join(path, name), { bigint: true }).catch(() => undefined);
    looks.push(`${name} ${found?.size} ${found?.mtimeNs}`);
  }
  return looks.join(", ");
}

function parse(line: string): z.infer<typeof LINE> | undefined {
  try {
    return LINE.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
