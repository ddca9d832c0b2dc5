// `events_typed`: the events of `events` with values for texts, and how many texts are no value.

import type { ColumnType } from "../../snapshot/rows/column-type.ts";
import { TYPED_VIEW_NAMES } from "../../snapshot/rows/lifted-column.ts";
import type { Dialect } from "./dialect.ts";
import { typedValue } from "./typed-value.ts";
import type { ViewColumn } from "./view-column.ts";

interface TypedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

const EVENT_DAY = { name: "event_day", type: "DATE" } as const;
const MISFITS = { name: "misfits", type: "INTEGER" } as const;

export function eventsTypedColumns(lifted: readonly TypedColumn[]): readonly ViewColumn[] {
  return [
    { name: "account", type: "VARCHAR" },
    { name: "uuid", type: "VARCHAR" },
    EVENT_DAY,
    ...shown(lifted),
    MISFITS,
    { name: "event", type: "VARCHAR" },
  ];
}

/** Its query, which never fails, whatever the texts are. */
export function eventsTypedSql(lifted: readonly TypedColumn[], dialect: Dialect): string {
  const typed = [
    { ...EVENT_DAY, from: "event_date" },
    ...shown(lifted).map((column) => ({ ...column, from: column.name })),
  ];
  // No column is named like these: their names have a space.
  const texts = typed.map(({ name, from }) => `    "${from}" AS "text of ${name}"`);
  const values = typed.map(
    ({ name, from, type }) => `    ${typedValue(`"${from}"`, type, dialect)} AS "${name}"`,
  );
  const misfits = typed
    .filter(({ type }) => type !== "VARCHAR")
    .map(({ name }) => `CASE WHEN "${name}" IS NULL AND "text of ${name}" IS NOT NULL THEN 1 ELSE 0 END`);
  const selected = eventsTypedColumns(lifted).map(({ name }) =>
    name === MISFITS.name ? `  ${misfits.join("\n    + ")} AS "${name}"` : `  "${name}"`,
  );
  return `SELECT
${selected.join(",\n")}
FROM (
  SELECT
    "account",
    "uuid",
    "event",
${[...texts, ...values].join(",\n")}
  FROM events
) typed`;
}

function shown(lifted: readonly TypedColumn[]): readonly TypedColumn[] {
  return lifted.filter(({ name }) => !TYPED_VIEW_NAMES.has(name));
}
