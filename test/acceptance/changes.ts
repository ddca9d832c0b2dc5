// Every small change of a value, one after the other: what a comparison must see.

export interface Change {
  /** Of what is changed: `TableInput.Columns.0.Name`. */
  readonly path: string;
  readonly to: unknown;
  /** All of the value, with that change. */
  readonly changed: unknown;
}

type At = (value: unknown, path: string) => Iterable<unknown>;

/** Each text, number and boolean is another one, or gone. */
export const changesOf = (value: unknown): Iterable<Change> =>
  changes(value, function* (at) {
    if (typeof at === "object") return;
    yield `${String(at)}x`;
    if (at !== "") yield undefined;
  });

/** Each object has one key more, each list one element more. */
export const additionsTo = (value: unknown): Iterable<Change> =>
  changes(value, function* (at) {
    if (Array.isArray(at)) yield [...at, "more"];
    else if (typeof at === "object" && at !== null) yield { ...at, More: "more" };
  });

/** The first two elements of each list have changed places. */
export const swapsIn = (value: unknown): Iterable<Change> =>
  changes(value, function* (at) {
    if (Array.isArray(at) && at.length > 1) yield [at[1], at[0], ...at.slice(2)];
  });

function* changes(value: unknown, changed: At, path = ""): Generator<Change> {
  for (const each of changed(value, path)) yield { path, to: each, changed: each };
  if (typeof value !== "object" || value === null || value instanceof Date) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const each of changes(inner, changed, path === "" ? key : `${path}.${key}`)) {
      const copy: Record<string, unknown> = Array.isArray(value) ? Object([...value]) : { ...value };
      copy[key] = each.changed;
      yield { ...each, changed: copy };
    }
  }
}
