// Which fields are worth a column of their own, and what to call them.

import { parsePointer } from "../../json/json-pointer.ts";
import type { ColumnType } from "../rows/column-type.ts";
import { type LiftedColumn, RESERVED_NAMES, TYPED_VIEW_NAMES } from "../rows/lifted-column.ts";
import { typesOf } from "./field-changes.ts";
import type { Field, JsonType } from "./field-profile.ts";

const SCALARS: ReadonlySet<JsonType> = new Set(["string", "number", "boolean", "null"]);

/** Every row has these already. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(["/uuid", "/date", "/scope"]);

/** Nothing that a terminal or a shell could read as anything but text. */
const PRINTABLE = /^[^\p{Control}\p{Surrogate}\p{Format}\u2028\u2029]+$/u;

const MAX_NAME_LENGTH = 60;
/** Of a pointer, in a name. */
const MAX_TOKENS = 4;

/** A column that there is already. */
interface PresentColumn {
  readonly name: string;
  readonly pointers: readonly string[];
}

/**
 * Scalar fields outside of arrays that at least half of the events have, and that are no column yet; in the order of
 * their pointers.
 * @param typeAt the type of a field's texts, where they have one
 */
export function suggestColumns(
  fields: readonly Field[],
  events: number,
  present: readonly PresentColumn[] = [],
  typeAt: (pointer: string) => ColumnType | undefined = () => undefined,
): readonly LiftedColumn[] {
  const lifted = new Set(present.flatMap(({ pointers }) => pointers));
  const chosen = fields.filter(
    (field) => field.count * 2 >= events && isSuitable(field) && !lifted.has(field.pointer),
  );
  const reserved = new Set([...RESERVED_NAMES, ...TYPED_VIEW_NAMES, ...present.map(({ name }) => name)]);
  const names = uniqueNames(
    chosen.map(({ pointer }) => parsePointer(pointer)),
    reserved,
  );
  return chosen.map(({ pointer }, index) => {
    const type = typeAt(pointer);
    return { name: names[index] ?? "", pointer, ...(type && { type }) };
  });
}

function isSuitable(field: Field): boolean {
  const { pointer } = field;
  const types = typesOf(field);
  return (
    types.every((type) => SCALARS.has(type)) &&
    types.some((type) => type !== "null") &&
    !OWN_COLUMNS.has(pointer) &&
    !parsePointer(pointer).includes("*") &&
    PRINTABLE.test(pointer)
  );
}

/**
 * A name for each path: its last token, or where others have that too or it is reserved, as many tokens more
 * as it takes. What is not unique with those gets a number.
 */
function uniqueNames(
  paths: readonly (readonly string[])[],
  reserved: ReadonlySet<string>,
): readonly string[] {
  let names = paths.map((path) => snakeCase(path.slice(-1)));
  for (let tokens = 2; tokens <= MAX_TOKENS; tokens += 1) {
    const times = new Map<string, number>();
    for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
    names = names.map((name, index) => {
      const path = paths[index] ?? [];
      const isTaken = reserved.has(name) || (times.get(name) ?? 0) > 1;
      return isTaken ? snakeCase(path.slice(-tokens)) : name;
    });
  }
  const taken = new Set(reserved);
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n += 1) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

/** `["spend", "grossAmount"]` is `spend_gross_amount`. */
function snakeCase(tokens: readonly string[]): string {
  const words = tokens
    .join("_")
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, MAX_NAME_LENGTH);
  if (words === "") return "field";
  return /^[0-9]/.test(words) ? `_${words}` : words;
}
