// Which lifted columns a run has: those that it names, or those of the warehouse.

import { shellWord } from "../../errors/shell-word.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import { resemblesType } from "../../snapshot/rows/column-type.ts";
import { type LiftedColumn, liftText } from "../../snapshot/rows/lifted-column.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { checkAgainstBase } from "./columns.ts";
import { liftedOf, type WarehouseColumn, warehouseColumns } from "./warehouse-columns.ts";

type Columns = readonly LiftedColumn[];

export interface ColumnsOfRun {
  /** Of a new run. */
  readonly columns: Columns;
  /** Of an unfinished run that began before another account appended columns: the first of them, longest list first. */
  readonly earlier: readonly Columns[];
}

/**
 * Before the first request. Throws `CONFIG_INVALID` where the named columns do not fit the tables, or where none is
 * named and no snapshot says where a column of the tables comes from.
 * @param base the account's snapshot that the changes are found against
 */
export async function columnsOfRun(
  ports: Pick<RunPorts, "store" | "catalog" | "logger">,
  { account, lifted }: Pick<RunSettings, "account" | "lifted">,
  base: string | null,
): Promise<ColumnsOfRun> {
  if (lifted.length > 0) {
    const before = await checkAgainstBase(ports, { account, lifted }, base);
    return { columns: lifted.map((column) => withType(column, before, ports.logger)), earlier: [] };
  }
  const there = await warehouseColumns(ports, account, base);
  if (there.length === 0) return { columns: [], earlier: [] };
  const columns = there.map(({ name, pointers: [pointer, another], type, typedBy }) => {
    if (pointer === undefined || another !== undefined) throw undecided(there);
    return { name, pointer, type, typedBy };
  });
  // Readers of the account would miss a column that its snapshot has.
  const fewest = (await liftedOf(ports.store, account, base)).length;
  const lengths = columns.map((_, length) => length).filter((length) => length >= fewest);
  return { columns, earlier: lengths.toReversed().map((length) => columns.slice(0, length)) };
}

/** A type that is not named stays. Naming another one changes no row, so it is allowed at any time. */
function withType(column: LiftedColumn, before: Columns, logger: Logger): LiftedColumn {
  const earlier = before.find(({ name }) => name === column.name);
  const [, end = ""] = /:([^:/]*)$/.exec(column.pointer) ?? [];
  if (column.type === undefined && resemblesType(end)) {
    logger.warn(
      `the column ${column.name} comes from the field ${column.pointer}, and has no type: a type is written in capital letters and without spaces, such as DECIMAL(18,2)`,
    );
  }
  if (column.type === undefined) return { ...column, type: earlier?.type, typedBy: earlier?.typedBy };
  if (earlier?.type !== undefined && earlier.type !== column.type) {
    logger.info(
      `the column ${column.name} now has the type ${column.type}, and no longer ${earlier.type}; its text stays as it is`,
    );
  }
  return column;
}

function undecided(there: readonly WarehouseColumn[]): SyncError {
  const problems = there.flatMap(({ name, pointers }) => {
    if (pointers.length === 1) return [];
    if (pointers.length === 0) return [`no snapshot says where the column ${name} comes from`];
    return [`the column ${name} comes from ${pointers.join(" and from ")} in different accounts`];
  });
  const options = there.map(({ name, pointers: [pointer = "POINTER", another] }) =>
    another === undefined ? `--lift ${shellWord(liftText({ name, pointer }))}` : `--lift ${name}=POINTER`,
  );
  return new SyncError(
    "CONFIG_INVALID",
    `This run names no columns of its own, so it uses those of the tables; but ${problems.join(", and ")}. Name them once, in this order: ${options.join(" ")} (in AWS: the setting lifted). Later runs of this account need not name them.`,
    { fields: { columns: there.map(({ name }) => name).join(",") } },
  );
}
