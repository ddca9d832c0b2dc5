// Which columns of its own a run has: those that it names, or those of the warehouse. Readers find columns by their
// position, so a run may only append new ones.

import { advise, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import { endsLikeType, type LiftedColumn, TYPES_TEXT } from "../../settings/lifted-column.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import { eventColumns, isTakenOtherwise, TAKEN_OTHERWISE_TEXT } from "../../snapshot/rows/lifted-column.ts";
import { readColumns, recordColumns, type TableColumns } from "../../snapshot/rows/table-columns.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

type Columns = readonly LiftedColumn[];

interface ColumnsOfRun {
  /** The columns that a new run has. */
  readonly columns: Columns;
  /** Of an unfinished run that began before another account appended columns: the first of them, longest list first. */
  readonly earlier: readonly Columns[];
}

export interface WarehouseColumn extends Pick<LiftedColumn, "name" | "type" | "typedBy"> {
  /** Empty where nothing says where it comes from; several where accounts differ and this one has none of its own. */
  readonly pointers: readonly string[];
  /** Whether the account has had the column. */
  readonly isOwn: boolean;
}

/** The columns of the whole warehouse, in the order of the tables. */
export async function warehouseColumns(ports: WarehousePorts): Promise<readonly WarehouseColumn[]> {
  return forAccount(await withDeployed(ports, await readColumns(ports.store)), ports.store.account);
}

/**
 * Before the first request. Throws `CONFIG_INVALID` where the named columns do not fit the tables, or where none is
 * named and nothing says where a column of the tables comes from.
 */
export async function columnsOfRun(
  ports: WorldPorts & WarehousePorts,
  { lifted }: Pick<RunSettings, "lifted">,
): Promise<ColumnsOfRun> {
  const there = await warehouseColumns(ports);
  if (lifted.length > 0) {
    checkColumns(there, lifted);
    checkNames(there, lifted);
    const names = lifted.slice(there.length).map(({ name }) => name);
    if (names.length > 0) {
      ports.logger.info(
        `new columns: ${names.join(", ")}. A name stays once it is published; a pointer or a type can be corrected by a later run`,
      );
    }
    // The named columns begin with those that are there.
    return { columns: lifted.map((column, at) => asNamed(column, there[at], ports.logger)), earlier: [] };
  }
  const columns = there.map(({ name, pointers: [pointer, another], type, typedBy }) => {
    if (pointer === undefined || another !== undefined) throw undecided(there);
    return { name, pointer, type, typedBy };
  });
  if (there.some(({ isOwn }) => !isOwn)) {
    const all = columns.map(
      ({ name, pointer, type }) => `${name} (${type ? `${pointer}, ${type}` : pointer})`,
    );
    ports.logger.info(`uses the lifted columns of the warehouse: ${all.join(", ")}`);
  }
  // Readers of the account would miss a column that its snapshot has.
  const fewest = 1 + there.findLastIndex(({ isOwn }) => isOwn);
  const lengths = columns.map((_, length) => length).filter((length) => length >= fewest);
  return { columns, earlier: lengths.toReversed().map((length) => columns.slice(0, length)) };
}

/**
 * Right before the commit. Another account may have appended columns since the run began; its rows have none of those,
 * which readers see as null until the account's next run. Throws `CONFIG_INVALID` where one stands in the place of a
 * column of this snapshot.
 * @param isNew false where a person publishes what is there: its columns were checked when it was made
 */
export async function recordColumnsOf(
  ports: WorldPorts & WarehousePorts,
  manifest: Manifest,
  isNew: boolean,
): Promise<void> {
  const { lifted } = manifest;
  let added: readonly string[] = [];
  await recordColumns(ports.store, manifest, async (recorded) => {
    const names = new Set(recorded.map(({ name }) => name));
    added = lifted.map(({ name }) => name).filter((name) => !names.has(name));
    if (!isNew) return;
    const there = forAccount(await withDeployed(ports, recorded), ports.store.account);
    checkColumns(there.slice(0, lifted.length), lifted);
  });
  if (added.length > 0) {
    ports.logger.info(
      `the tables have new columns: ${added.join(", ")}. They are null in older snapshots, and in other accounts until their next run`,
    );
  }
}

/** Throws `CONFIG_INVALID` unless the columns of the tables are a run's columns or the first of them. */
export function checkColumns(there: readonly WarehouseColumn[], lifted: Columns): void {
  const own = lifted.map(({ name }) => name);
  if (there.every(({ name }, at) => name === own[at])) return;
  const tables = there.map(({ name }) => name);
  const first = there.map(({ name, pointers }) => {
    const pointer = pointers[0] ?? lifted.find((column) => column.name === name)?.pointer ?? "POINTER";
    return { name, pointer };
  });
  throw new SyncError(
    "CONFIG_INVALID",
    `The tables have the columns ${tables.join(", ")}, and this run has ${own.join(", ") || "none"}. Columns are only ever appended, because readers find them by their position.`,
    {
      fields: { columns: tables.join(",") },
      next: advise`Give ${setting("lifted", first)} first, in this order, and new ones at the end.`,
    },
  );
}

/** Throws `CONFIG_INVALID` for a name that no reader could use as it is, unless a snapshot has it: then it stays. */
function checkNames(there: readonly WarehouseColumn[], lifted: Columns): void {
  const published = new Set(there.flatMap(({ name, pointers }) => (pointers.length > 0 ? [name] : [])));
  const taken = lifted.find(({ name }) => isTakenOtherwise(name) && !published.has(name));
  if (taken === undefined) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The new column has the name ${taken.name}, ${TAKEN_OTHERWISE_TEXT}.`,
    {
      fields: { columns: taken.name },
      next: advise`Choose another one for ${taken.pointer}, with ${setting("lifted")}.`,
    },
  );
}

/** With those that a deployment has given the tables before any run brought them. */
async function withDeployed({ catalog }: WarehousePorts, recorded: TableColumns): Promise<TableColumns> {
  const own = eventColumns([]);
  const deployed = ((await catalog.columns?.()) ?? []).filter((name) => !own.includes(name));
  const at = recorded.findIndex(({ name }, index) => index < deployed.length && name !== deployed[index]);
  if (at !== -1) {
    const order = recorded.map(({ name }) => name).join(", ");
    throw new SyncError(
      "CONFIG_INVALID",
      `The tables have the column ${deployed[at]} where this warehouse has ${recorded[at]?.name}. Columns are only ever appended, so nothing is published.`,
      {
        fields: { columns: deployed.join(",") },
        next: advise`Begin ${setting("lifted")} with ${order}, in this order, and deploy the stack.`,
      },
    );
  }
  return [...recorded, ...deployed.slice(recorded.length).map((name) => ({ name, pointers: {}, since: "" }))];
}

function forAccount(columns: TableColumns, account: string): readonly WarehouseColumn[] {
  return columns.map(({ name, type, typed_by: typedBy, pointers }) => {
    const isOwn = Object.hasOwn(pointers, account);
    const found = isOwn ? [pointers[account] ?? ""] : Object.values(pointers);
    return { name, pointers: [...new Set(found)].sort(), isOwn, type, typedBy };
  });
}

/**
 * With its type: one that is not named stays. Naming another one changes no row, so it is allowed at any time. Warns
 * of a pointer that has changed, and of one that looks like a type.
 */
function asNamed(column: LiftedColumn, earlier: WarehouseColumn | undefined, logger: Logger): LiftedColumn {
  const { name, pointer, type } = column;
  const [before] = earlier?.pointers ?? [];
  if (earlier?.isOwn && before !== pointer) {
    logger.warn(
      `the column ${name} now comes from ${pointer} and no longer from ${before}; older snapshots keep what they have`,
    );
  }
  if (type === undefined && endsLikeType(pointer)) {
    logger.warn(
      `the column ${name} comes from the field ${pointer}, and has no type. A type is, in capital letters and without spaces, ${TYPES_TEXT}`,
    );
  }
  if (type === undefined) return { ...column, type: earlier?.type, typedBy: earlier?.typedBy };
  if (earlier?.type !== undefined && earlier.type !== type) {
    logger.info(
      `the column ${name} now has the type ${type}, and no longer ${earlier.type}; its text stays as it is`,
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
  const named = there.map(({ name, pointers: [pointer, another] }) => ({
    name,
    pointer: another === undefined && pointer !== undefined ? pointer : "POINTER",
  }));
  return new SyncError(
    "CONFIG_INVALID",
    `This run names no columns of its own, so it uses those of the tables; but ${problems.join(", and ")}.`,
    {
      fields: { columns: there.map(({ name }) => name).join(",") },
      next: advise`Name them once, in this order: ${setting("lifted", named)}. Later runs of this account need not name them.`,
    },
  );
}
