// What `query` says beside DuckDB's words: how to read what is no column, and why there are no events.

import { tablesBehind } from "../../../lambdas/job/catalog/catalog.ts";
import { type AccountLog, UNIT_TABLES } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { undefinedIfDamaged } from "../../../lambdas/job/errors/sync-error.ts";
import { formatPointer, parsePointer } from "../../../lambdas/job/json/json-pointers.ts";
import { heldSnapshots } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { liftText } from "../../../lambdas/job/settings/lifted-column.ts";
import { type Field, typesOf } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { readManifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { suggestColumns } from "../../../lambdas/job/snapshot/rows/suggest-columns.ts";
import { knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { oneLine } from "../output/terminal.ts";

/** What helps with DuckDB's message about a column that there is not, or about a field of a column that is text. */
export async function hintFor(
  store: Store,
  accounts: readonly AccountLog[],
  sql: string,
  message: string,
): Promise<string | undefined> {
  const fields = (): Promise<readonly Field[]> => publishedFields(store, accounts);
  const unknown = UNKNOWN_COLUMN.exec(message)?.slice(1).find(Boolean);
  if (unknown !== undefined) {
    const hints = [joinHint(sql, unknown), fieldHint(unknown, await fields())];
    return hints.filter(Boolean).join("\n") || undefined;
  }
  const [, key, column] = NO_STRUCT.exec(message) ?? [];
  return key === undefined || column === undefined
    ? undefined
    : jsonHint(column, keysIn(sql, column, key.replaceAll("''", "'")), await fields());
}

/** How DuckDB names a column that there is not. */
const UNKNOWN_COLUMN =
  /Referenced column "(.+?)" not found|does not have a column named "(.+?)"|Column "(.+?)" does not exist on (?:left|right) side of join/;

/** How DuckDB names the field, and the column that it is read from with a dot. */
const NO_STRUCT =
  /^Binder Error: Cannot extract field '(.+?)' from expression "(event|listing|before|after)"/;

/** When a change was published is what most changes are asked for. */
function joinHint(sql: string, name: string): string | undefined {
  const column = TABLES.publications.columns.find((each) => each.name === name.toLowerCase())?.name;
  if (column === undefined || !/\bevent_changes\b/i.test(sql)) return undefined;
  return `${column} is a column of publications: SELECT p.${column}, c.uuid, c.change, c.fields FROM event_changes c JOIN publications p USING (account, publication) ORDER BY 1. Without SQL, diff --since <instant> compares what readers see now with what they saw then.`;
}

const MAX_SHOWN = 3;

/** How to read the fields of that name from the details. */
function fieldHint(name: string, fields: readonly Field[]): string | undefined {
  const found = new Map<string, number>();
  for (const field of fields) {
    const path = pathOf(field.pointer);
    if (path === undefined || path.at(-1)?.toLowerCase() !== name.toLowerCase()) continue;
    found.set(expressionOf("event", path, field), path.length);
  }
  if (found.size === 0) return undefined;
  const nearest = [...found].toSorted(([, a], [, b]) => a - b).map(([expression]) => expression);
  return `${oneLine(name)} is a field of the details, and no column: ${nearest.slice(0, MAX_SHOWN).join(", or ")}`;
}

/** What was written behind the column; the first key alone where that cannot be found. */
function keysIn(sql: string, column: string, first: string): readonly string[] {
  const chains = sql.matchAll(/\b(event|listing|before|after)((?:\.(?:[\p{L}\p{N}_]+|"[^"]+"))+)/giu);
  for (const [, of = "", chain = ""] of chains) {
    const keys = [...chain.matchAll(/[\p{L}\p{N}_]+|"[^"]+"/gu)].map(([key]) => key.replaceAll('"', ""));
    if (of.toLowerCase() === column && keys[0] === first) return keys;
  }
  return [first];
}

/** Capitals matter to JSON, and not to DuckDB: a field that differs in them alone is the one that is meant. */
function jsonHint(column: string, keys: readonly string[], fields: readonly Field[]): string | undefined {
  if (!keys.every(isReadable)) return undefined;
  const pointer = formatPointer(keys).toLowerCase();
  const named = column === "listing" ? [] : fields.filter((field) => field.pointer.toLowerCase() === pointer);
  const field = named.find((each) => each.pointer === formatPointer(keys)) ?? named[0];
  const path = field === undefined ? keys : parsePointer(field.pointer);
  const [lifted] = column === "event" && field !== undefined ? suggestColumns([field], 1) : [];
  const lift = lifted && `, and run with --lift ${shellWord(liftText(lifted))} makes a column of it`;
  return `${column} is JSON text: ${expressionOf(column, path, field)} reads the field${lift ?? ""}.`;
}

/** The fields of what readers see, of all accounts. */
async function publishedFields(store: Store, accounts: readonly AccountLog[]): Promise<readonly Field[]> {
  const fields: Field[] = [];
  for (const { account, log } of accounts) {
    const head = log.at(-1);
    const manifest =
      head && (await readManifest(accountStore(store, account), head.snapshot_id).catch(undefinedIfDamaged));
    fields.push(...(manifest?.fields ?? []));
  }
  return fields;
}

/** The keys; undefined for an element of an array, and for keys that a path cannot hold. */
function pathOf(pointer: string): readonly string[] | undefined {
  const keys = parsePointer(pointer);
  return keys.every(isReadable) ? keys : undefined;
}

const isReadable = (key: string): boolean => key !== "*" && /^[^"\\\p{Control}]+$/u.test(key);

/** @param field what stands there, if it is known */
function expressionOf(column: string, keys: readonly string[], field: Field | undefined): string {
  const isNested = field && typesOf(field).some((type) => type === "object" || type === "array");
  const opening = isNested ? `json_extract(well_formed(${column})` : `json_extract_scalar(${column}`;
  return oneLine(`${opening}, ${jsonPath(keys)})`);
}

/** As a literal of SQL. */
function jsonPath(keys: readonly string[]): string {
  const path = keys.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `["${key}"]`)).join("");
  return `'$${path.replaceAll("'", "''")}'`;
}

/** A query with a row for each element of an array in the details; undefined for keys that a path cannot hold. */
export function elementsQuery(pointer: string, isAthena: boolean): string | undefined {
  const keys = pathOf(pointer);
  if (keys === undefined) return undefined;
  const array = isAthena
    ? `CAST(json_extract(event, ${jsonPath(keys)}) AS ARRAY(JSON))`
    : `CAST(json_extract(well_formed(event), ${jsonPath(keys)}) AS JSON[])`;
  return oneLine(`SELECT uuid, item FROM events CROSS JOIN UNNEST(${array}) AS t(item)`);
}

/**
 * Why the tables that a query names have no events, one line for each account; none where an account has some, or where
 * the query reads something else.
 * @param statusOf the command that shows an account's last runs and what is held
 */
export async function whyEmpty(
  store: Store,
  accounts: readonly AccountLog[],
  tables: ReadonlySet<string>,
  statusOf: (account: string) => string,
): Promise<readonly string[]> {
  const behind = tablesBehind(tables);
  if (!UNIT_TABLES.some((table) => behind.has(table))) return [];
  if (accounts.some(({ log, damage }) => damage !== undefined || log.some(({ events }) => events > 0)))
    return [];
  const lines: string[] = [];
  for (const account of await knownAccounts(store)) {
    const isPublished = accounts.some((each) => each.account === account && each.log.length > 0);
    const held = isPublished ? undefined : (await heldSnapshots(accountStore(store, account))).at(-1);
    const why = isPublished
      ? "what is published has none."
      : `nothing is published yet${held ? `; a first snapshot is held: ${held.explanation}` : "."} See ${statusOf(account)}`;
    lines.push(`The account ${account} has no events: ${why}`);
  }
  return lines;
}
