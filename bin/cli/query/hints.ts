// What helps with a query: the expression for a field that is no column, and why a table is empty.

import { type AccountLog, UNIT_TABLES } from "../../../lambdas/job/catalog/duckdb/table-folders.ts";
import { tablesBehind } from "../../../lambdas/job/catalog/views/views.ts";
import { isDamage } from "../../../lambdas/job/errors/sync-error.ts";
import { parsePointer } from "../../../lambdas/job/json/json-pointers.ts";
import { heldSnapshots } from "../../../lambdas/job/run/compare/held-snapshots.ts";
import { typesOf } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { Field } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { readManifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { oneLine } from "../output/terminal.ts";

const MAX_SHOWN = 3;

/** How DuckDB names a column that there is not. */
const UNKNOWN_COLUMN = /Referenced column "(.+?)" not found|does not have a column named "(.+?)"/;

/** For a message of DuckDB about an unknown column: how to read the fields of that name from the details. */
export async function fieldHint(
  store: Store,
  accounts: readonly AccountLog[],
  message: string,
): Promise<string | undefined> {
  const [, first, second] = UNKNOWN_COLUMN.exec(message) ?? [];
  const name = first ?? second;
  if (name === undefined) return undefined;
  const found = new Map<string, number>();
  for (const { account, log } of accounts) {
    for (const field of await fieldsOf(store, account, log.at(-1)?.snapshot_id)) {
      const path = pathOf(field.pointer);
      if (path === undefined || path.at(-1)?.toLowerCase() !== name.toLowerCase()) continue;
      found.set(expressionOf(field, path), path.length);
    }
  }
  if (found.size === 0) return undefined;
  const nearest = [...found].toSorted(([, a], [, b]) => a - b).map(([expression]) => expression);
  return `${oneLine(name)} is a field of the details, and no column: ${nearest.slice(0, MAX_SHOWN).join(", or ")}`;
}

/** Of the snapshot that readers see. */
async function fieldsOf(
  store: Store,
  account: string,
  snapshotId: string | undefined,
): Promise<readonly Field[]> {
  if (snapshotId === undefined) return [];
  try {
    return (await readManifest(accountStore(store, account), snapshotId)).fields;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [];
  }
}

/** The keys; undefined for an element of an array, and for keys that a path cannot hold. */
function pathOf(pointer: string): readonly string[] | undefined {
  const keys = parsePointer(pointer);
  return keys.every((key) => key !== "*" && /^[^"\\\p{Control}]+$/u.test(key)) ? keys : undefined;
}

function expressionOf(field: Field, keys: readonly string[]): string {
  const isNested = typesOf(field).some((type) => type === "object" || type === "array");
  const path = keys.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `["${key}"]`)).join("");
  return oneLine(
    `${isNested ? "json_extract" : "json_extract_scalar"}(event, '$${path.replaceAll("'", "''")}')`,
  );
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
