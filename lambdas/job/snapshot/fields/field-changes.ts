// How the fields of events changed from one snapshot to another: fields that are new, gone, or have other types.

import { redactKey } from "../../errors/shown-text.ts";
import { formatPointer, parsePointer } from "../../json/json-pointers.ts";
import {
  compareFields,
  type Field,
  JSON_TYPES,
  type JsonType,
  MAX_FIELDS,
  type Profile,
} from "./field-profile.ts";

interface RetypedField {
  readonly pointer: string;
  readonly before: readonly JsonType[];
  readonly after: readonly JsonType[];
}

/** Each in the order of the pointers. */
export interface FieldChanges {
  readonly added: readonly Field[];
  readonly gone: readonly Field[];
  readonly retyped: readonly RetypedField[];
}

const MAX_SHOWN = 20;

/** A field whose count alone changed is not among them, nor one that either profile had no room for. */
export function fieldChanges(before: Profile, after: Profile): FieldChanges {
  const [oldFields, newFields] = [byPointer(before), byPointer(after)];
  const knewBefore = knows(before);
  const knowsNow = knows(after);
  return {
    added: after.fields.filter(({ pointer }) => !oldFields.has(pointer) && knewBefore(pointer)),
    gone: before.fields.filter(({ pointer }) => !newFields.has(pointer) && knowsNow(pointer)),
    retyped: after.fields.flatMap((field) => {
      const old = oldFields.get(field.pointer);
      if (old === undefined) return [];
      const change = { pointer: field.pointer, before: typesOf(old), after: typesOf(field) };
      return change.before.join() === change.after.join() ? [] : [change];
    }),
  };
}

/** One line for each kind that there is, for a person. Keys that look like data are not repeated. */
export function describeFieldChanges({ added, gone, retyped }: FieldChanges): readonly string[] {
  const typed = (field: Field): string => `${shownPointer(field.pointer)} (${typesOf(field).join(" or ")})`;
  return [
    ...line("new fields: ", added, typed),
    ...line("fields that are gone: ", gone, typed),
    ...line(
      "fields that changed their type: ",
      retyped,
      ({ pointer, before, after }) =>
        `${shownPointer(pointer)} (from ${before.join(" or ")} to ${after.join(" or ")})`,
    ),
  ];
}

export function typesOf({ types }: Field): readonly JsonType[] {
  return JSON_TYPES.filter((type) => types[type] !== undefined);
}

function byPointer({ fields }: Profile): ReadonlyMap<string, Field> {
  return new Map(fields.map((field) => [field.pointer, field]));
}

/** Whether a profile would have the field if its events did: a full one ends at its last field. */
function knows({ fields, fields_complete }: Profile): (pointer: string) => boolean {
  if (fields_complete) return () => true;
  if (fields.length < MAX_FIELDS) return () => true;
  const last = fields
    .map(({ pointer }) => placeOf(pointer))
    .reduce((a, b) => (compareFields(a, b) > 0 ? a : b));
  return (pointer) => compareFields(placeOf(pointer), last) < 0;
}

function placeOf(pointer: string): Parameters<typeof compareFields>[0] {
  return { pointer, depth: pointer.split("/").length - 1 };
}

function line<Item>(
  title: string,
  items: readonly Item[],
  describe: (item: Item) => string,
): readonly string[] {
  if (items.length === 0) return [];
  const first = items.slice(0, MAX_SHOWN).map(describe);
  const more = items.length > MAX_SHOWN ? `, and ${items.length - MAX_SHOWN} more` : "";
  return [`${title}${first.join(", ")}${more}`];
}

/** Keys that look like data are not repeated. */
export function shownPointer(pointer: string): string {
  return formatPointer(parsePointer(pointer).map((token) => (token === "*" ? token : redactKey(token))));
}
