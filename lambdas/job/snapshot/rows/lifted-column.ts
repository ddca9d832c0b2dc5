// Lifted columns: a name and a JSON Pointer into the detail; which names and pointers are valid.

import { z } from "zod";
import { shownText } from "../../errors/shown-text.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { parsePointer } from "../../json/json-pointer.ts";
import { TABLES } from "../../storage/tables.ts";

export interface LiftedColumn {
  readonly name: string;
  /** JSON Pointer (RFC 6901) into the detail; not the detail itself. */
  readonly pointer: string;
}

const EVENT_COLUMNS: readonly string[] = TABLES.events.columns.map(({ name }) => name);

/** Names that the tables of events have already. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...EVENT_COLUMNS,
  ...TABLES.events.partitions,
  ...TABLES.event_snapshots.partitions,
  ...TABLES.event_changes.partitions,
]);

/** Glue's limit of length. */
const NAME = /^[a-z_][a-z0-9_]{0,254}$/;

/** All columns of a row, in order, without those that come from the path. */
export function eventColumns(lifted: readonly LiftedColumn[]): readonly string[] {
  return [...EVENT_COLUMNS, ...lifted.map(({ name }) => name)];
}

/** From texts of the form `NAME=POINTER`. Throws `CONFIG_INVALID` with what was expected and what was found. */
export function parseLiftedColumns(texts: readonly string[]): readonly LiftedColumn[] {
  const columns = texts.map(parseLiftedColumn);
  const pointers = new Map<string, string>();
  for (const { name, pointer } of columns) {
    const earlier = pointers.get(name);
    if (earlier !== undefined) {
      throw invalid(`expected each name once, and got ${name} twice, for ${earlier} and for ${pointer}`);
    }
    pointers.set(name, pointer);
  }
  return columns;
}

/** The columns as settings in JSON name them. */
export const liftedColumns = z
  .array(
    z.strictObject({
      name: z.string("expected a column's name"),
      pointer: z.string("expected a JSON Pointer"),
    }),
    'expected the columns of your own as a list, such as [{"name": "brand", "pointer": "/brand/name"}]',
  )
  .superRefine((columns, context) => {
    try {
      parseLiftedColumns(columns.map(({ name, pointer }) => `${name}=${pointer}`));
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  })
  .readonly();

function parseLiftedColumn(text: string): LiftedColumn {
  const got = `and got ${shownText(text)}`;
  const at = text.indexOf("=");
  if (at === -1) throw invalid(`expected NAME=POINTER, for example brand=/brand/name, ${got}`);
  const name = text.slice(0, at);
  const pointer = text.slice(at + 1);
  if (!NAME.test(name)) {
    throw invalid(`expected a name of a-z, 0-9 and _ that begins with a letter or _, ${got}`);
  }
  if (RESERVED_NAMES.has(name)) {
    throw invalid(`expected a name other than ${[...RESERVED_NAMES].join(", ")}, which are reserved, ${got}`);
  }
  if (pointer === "") {
    throw invalid(
      `expected a JSON Pointer to a part of the detail (the column event holds the whole), ${got}`,
    );
  }
  parsePointer(pointer);
  return { name, pointer };
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}
