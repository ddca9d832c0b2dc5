// What the tables of a query lack, because files of it are missing: the query goes on without.

import { tablesBehind } from "../../../lambdas/job/catalog/catalog.ts";
import { type AccountLog, UNIT_TABLES, unitsOf } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { RESTART } from "../../../lambdas/job/errors/sync-error.ts";
import { type DamagedUnit, describeUnit, folderOf } from "../../../lambdas/job/snapshot/files/units.ts";
import { isBeforeRestart } from "../../../lambdas/job/storage/publication.ts";
import { ANY_SHELL, say, sayError } from "../../../lambdas/words/style.ts";
import { PLACE_OPTIONS } from "../options/options.ts";
import { commandLineText, type GivenOptions } from "../options/read-options.ts";
import { styleOf } from "../output/next-command.ts";

export interface MissingUnit {
  readonly account: string;
  readonly holds: "snapshot" | "changes";
  readonly snapshot_id: string;
  readonly publication: string;
  /** Whether it is the snapshot that readers see. */
  readonly is_head: boolean;
  /** The text for people, with the file and what to do. */
  readonly message: string;
}

/**
 * Also an account of whose log nothing is known any more, as one that has lost its head.
 * @param tables names in lower case, of tables and of views over them; others are left aside
 */
export function missingUnits(
  accounts: readonly AccountLog[],
  tables: ReadonlySet<string>,
  given: GivenOptions,
): readonly MissingUnit[] {
  const behind = tablesBehind(tables);
  const read = UNIT_TABLES.filter((table) => behind.has(table));
  return accounts.flatMap((of) => {
    const { account, log, incomplete, damage } = of;
    const head = log.at(-1)?.snapshot_id;
    if (head === undefined) {
      const unknown = {
        account,
        holds: "snapshot",
        snapshot_id: "",
        publication: "",
        is_head: true,
      } as const;
      const isRead = read.length > 0 || behind.has("publications");
      return damage && isRead ? [{ ...unknown, message: sayError(damage, ANY_SHELL) }] : [];
    }
    const shown = new Set(read.flatMap((table) => unitsOf(table, of).map(folderOf)));
    return incomplete
      .filter((unit) => shown.has(folderOf(unit)))
      .map((unit) => {
        const { holds, publication, damage: cause } = unit;
        const { snapshot_id } = publication;
        const is_head = holds === "snapshot" && snapshot_id === head;
        const message = `${describeUnit(unit)}. ${sayError(cause, ANY_SHELL)} ${remedyFor(unit, of, given)}`;
        return { account, holds, snapshot_id, publication: publication.publication, is_head, message };
      });
  });
}

function remedyFor(
  { account, holds, publication }: DamagedUnit,
  { log }: AccountLog,
  given: GivenOptions,
): string {
  const { snapshot_id } = publication;
  const own = given.ofAccount(account);
  if (holds === "snapshot" && snapshot_id !== log.at(-1)?.snapshot_id) {
    const place = own.read(PLACE_OPTIONS);
    return `Or give it up: ${commandLineText(["retire", snapshot_id, "--yes"], PLACE_OPTIONS, place)}`;
  }
  return isBeforeRestart(log, publication)
    ? "It is from before the last restart, so it counts no more."
    : say(RESTART, styleOf(own));
}
