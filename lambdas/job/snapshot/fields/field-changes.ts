// How the fields of events changed from one snapshot to another, and how a person is told.

import { type Field, type JsonType, knows, type Profile, shownPointer, typesOf } from "./field-profile.ts";

interface RetypedField {
  readonly pointer: string;
  /** The most events that had it before or have it after. */
  readonly count: number;
  readonly before: readonly JsonType[];
  readonly after: readonly JsonType[];
}

/** Each in the order of the pointers. */
export interface FieldChanges {
  readonly added: readonly Field[];
  readonly gone: readonly Field[];
  readonly retyped: readonly RetypedField[];
}

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
      const count = Math.max(old.count, field.count);
      const change = { pointer: field.pointer, count, before: typesOf(old), after: typesOf(field) };
      return change.before.join() === change.after.join() ? [] : [change];
    }),
  };
}

/** A change as it is told. */
export interface Told {
  /** Keys that look like data are not repeated. */
  readonly pointer: string;
  readonly types: readonly JsonType[];
  /** Undefined where the field is new or gone. */
  readonly before?: readonly JsonType[];
  /** Events that have it; of fields that read alike, those of the one that most events have. */
  readonly count: number;
  /** So many fields read alike. */
  readonly times: number;
}

interface ToldChanges {
  readonly added: readonly Told[];
  readonly gone: readonly Told[];
  readonly retyped: readonly Told[];
}

/** Fields that read alike are one. Those that most events have come first, so many keys of one map hide no other field. */
export function toldChanges({ added, gone, retyped }: FieldChanges): ToldChanges {
  const typed = (field: Field): Untold => ({ ...field, types: typesOf(field) });
  return {
    added: told(added.map(typed)),
    gone: told(gone.map(typed)),
    retyped: told(retyped.map(({ after, ...field }) => ({ ...field, types: after }))),
  };
}

type Untold = Omit<Told, "times">;

function told(fields: readonly Untold[]): readonly Told[] {
  const sorted = fields
    .map((field) => ({ ...field, pointer: shownPointer(field.pointer) }))
    .sort((a, b) => b.count - a.count);
  const alike = Map.groupBy(sorted, ({ pointer, before, types }) => JSON.stringify([pointer, before, types]));
  return [...alike.values()].flatMap((same) =>
    same.slice(0, 1).map((field) => ({ ...field, times: same.length })),
  );
}

/** One line for each kind that there is, for a person; first the one with the field that most events have. */
export function describeFieldChanges(changes: FieldChanges): readonly string[] {
  const { added, gone, retyped } = toldChanges(changes);
  const kinds = [
    ["fields that are gone: ", gone],
    ["fields that changed their type: ", retyped],
    ["new fields: ", added],
  ] as const;
  return kinds
    .toSorted(([, [a]], [, [b]]) => (b?.count ?? 0) - (a?.count ?? 0))
    .flatMap(([title, fields]) => line(title, fields));
}

/** `number`, `from number to string or null`. */
export function typeText({ before, types }: Pick<Told, "before" | "types">): string {
  const after = types.join(" or ");
  return before === undefined ? after : `from ${before.join(" or ")} to ${after}`;
}

function byPointer({ fields }: Profile): ReadonlyMap<string, Field> {
  return new Map(fields.map((field) => [field.pointer, field]));
}

const MAX_SHOWN = 20;

function line(title: string, fields: readonly Told[]): readonly string[] {
  if (fields.length === 0) return [];
  const first = fields.slice(0, MAX_SHOWN).map(({ times, ...field }) => {
    const all = times === 1 ? "" : `, ${times} fields`;
    return `${field.pointer} (${typeText(field)}${all})`;
  });
  const others = fields.slice(MAX_SHOWN).reduce((sum, { times }) => sum + times, 0);
  return [`${title}${first.join(", ")}${others > 0 ? `, and ${others} more` : ""}`];
}
