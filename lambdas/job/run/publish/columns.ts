// Keeps columns where they are: readers find them by position, so a run may only append new ones.

import type { Catalog } from "../../catalog/catalog.ts";
import { shellWord } from "../../errors/shell-word.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { eventColumns, type LiftedColumn, liftText } from "../../snapshot/rows/lifted-column.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { liftedOf, warehouseColumns } from "./warehouse-columns.ts";

/**
 * At the start of a run. Throws `CONFIG_INVALID` as `checkColumns` does; warns of pointers that have changed.
 * @returns the lifted columns of the base
 */
export async function checkAgainstBase(
  { store, catalog, logger }: Pick<RunPorts, "store" | "catalog" | "logger">,
  { account, lifted }: Pick<RunSettings, "account" | "lifted">,
  base: string | null,
): Promise<readonly LiftedColumn[]> {
  const before = await liftedOf(store, account, base);
  await checkColumns(catalog, lifted, async () => {
    const there = await warehouseColumns({ store, catalog }, account, base);
    return there.flatMap(({ name, pointers: [pointer] }) =>
      pointer === undefined ? [] : [{ name, pointer }],
    );
  });
  for (const { name, pointer } of lifted) {
    const earlier = before.find((column) => column.name === name)?.pointer;
    if (earlier !== undefined && earlier !== pointer) {
      logger.warn(
        `the column ${name} now comes from ${pointer} and no longer from ${earlier}; older snapshots keep what they have`,
      );
    }
  }
  return before;
}

/**
 * Throws `CONFIG_INVALID` unless the columns of the tables are a run's columns or the first of them.
 * @param known finds columns whose pointer is known, for the remedy
 */
export async function checkColumns(
  catalog: Pick<Catalog, "columns">,
  lifted: readonly LiftedColumn[],
  known: () => Promise<readonly LiftedColumn[]> = async () => [],
): Promise<void> {
  const tables = await catalog.columns();
  const problem = misplaced(tables, eventColumns(lifted));
  if (problem === undefined) return;
  const taken = eventColumns([]);
  const pointers = [...(await known()), ...lifted];
  const first = tables
    .filter((name) => !taken.includes(name))
    .map((name) => `--lift ${shellWord(liftText({ name, pointer: pointerOf(name, pointers) }))}`);
  throw new SyncError(
    "CONFIG_INVALID",
    `${problem} Columns are only ever appended, because readers find them by their position. Give ${first.join(" ")} first, in this order, and new ones at the end.`,
    { fields: { columns: tables.join(",") } },
  );
}

/**
 * At the commit of a run that named no columns: another account may have appended some since it began. Its rows have
 * none of those, which readers see as null until the account's next run.
 */
export async function checkUnnamedColumns(catalog: Catalog, lifted: readonly LiftedColumn[]): Promise<void> {
  const own = eventColumns(lifted);
  const tables = (await catalog.columns()).slice(0, own.length);
  await checkColumns({ columns: async () => tables }, lifted);
}

/** Undefined where a run's columns begin with those of the tables. */
function misplaced(tables: readonly string[], own: readonly string[]): string | undefined {
  const at = tables.findIndex((name, index) => own[index] !== name);
  if (at === -1) return undefined;
  const [expected = "", found] = [tables[at], own[at]];
  const missing = tables.filter((name) => !own.includes(name));
  const inTheWay = found !== undefined && !tables.includes(found) ? `${found} is in the way` : undefined;
  if (missing.length > 0) {
    const what =
      missing.length === 1 ? `column ${missing[0]}, which is` : `columns ${missing.join(", ")}, which are`;
    return `This run lacks the ${what} in the tables${inTheWay ? `, and ${inTheWay}` : ""}.`;
  }
  if (inTheWay !== undefined) return `The new column ${inTheWay}: ${expected} stands there in the tables.`;
  return `The column ${expected} has moved: it is number ${at + 1} in the tables and number ${own.indexOf(expected) + 1} of this run.`;
}

function pointerOf(name: string, known: readonly LiftedColumn[]): string {
  return known.find((column) => column.name === name)?.pointer ?? "POINTER";
}
