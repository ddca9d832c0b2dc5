// Compares what the template states of a resource with what AWS says of it: what is missing, what is different, and what is
// there although the template does not state it. Lists are compared in their order, but for those named here.

/** Stands for a stated value that is not known here, such as one that another stack exports. It is not compared. */
export const UNKNOWN = Symbol("unknown");

export interface Comparison {
  /** `Target.Arn: expected …, found …`, the first difference of long texts in the middle. */
  readonly differences: readonly string[];
  /** The paths of what is not known. */
  readonly unknown: readonly string[];
}

/** By path, such as `Target.RetryPolicy`: the values that AWS gives to what the template does not state. */
export type FilledIn = Readonly<Record<string, readonly unknown[]>>;

export function compare(stated: unknown, found: unknown, filledIn: FilledIn = {}): Comparison {
  const into = { differences: [], unknown: [], filledIn };
  compareAt("", stated, found, into);
  return into;
}

interface Growing {
  readonly differences: string[];
  readonly unknown: string[];
  readonly filledIn: FilledIn;
}

type Members = Readonly<Record<string, unknown>>;

function compareAt(path: string, stated: unknown, found: unknown, into: Growing): void {
  const [expected, other] = [opened(stated, found), opened(found, stated)];
  if (expected === UNKNOWN) into.unknown.push(path);
  else if (isAbsent(expected) && isAbsent(other)) return;
  else if (isAbsent(expected) && isFilledIn(path, other, into)) return;
  else if (Array.isArray(expected) && (Array.isArray(other) || isAbsent(other)))
    compareLists(path, expected, Array.isArray(other) ? other : [], into);
  else if (Array.isArray(other) && isAbsent(expected)) compareLists(path, [], other, into);
  else if (isObject(expected) && isObject(other)) compareMembers(path, expected, other, into);
  else if (isAbsent(expected) && isObject(other) && hasFilledInBelow(path, into))
    compareMembers(path, {}, other, into);
  // CloudFormation takes numbers and booleans as texts.
  else if (isObject(expected) || isObject(other) || String(expected ?? "") !== String(other ?? ""))
    into.differences.push(difference(path, expected, other));
}

function compareMembers(path: string, stated: Members, found: Members, into: Growing): void {
  for (const key of new Set([...Object.keys(stated), ...Object.keys(found)]))
    compareAt(`${path}${path && "."}${key}`, stated[key], found[key], into);
}

function compareLists(path: string, stated: readonly unknown[], found: readonly unknown[], into: Growing) {
  const pairs = UNORDERED.has(path.split(".").at(-1) ?? "")
    ? pairsOfSets(stated, found)
    : Array.from({ length: Math.max(stated.length, found.length) }, (_, n) => [stated[n], found[n]] as const);
  for (const [expected, other] of pairs) {
    if (expected === undefined) into.differences.push(difference(placeOf(path, other), undefined, other));
    else if (other === undefined && expected !== UNKNOWN)
      into.differences.push(difference(placeOf(path, expected), expected, undefined));
    else compareAt(placeOf(path, expected), expected, other, into);
  }
}

/** Lists whose order says nothing to AWS, which returns some of them in another one. */
const UNORDERED: ReadonlySet<string> = new Set([
  // Of a metric.
  "Dimensions",
  // Of an alarm: each has an id.
  "Metrics",
  // Of a bucket's lifecycle.
  "Rules",
  "Statement",
  "Tags",
  // Of a rule.
  "Targets",
]);

/** Equal elements first, then those of one name, then what is left. */
function pairsOfSets(stated: readonly unknown[], found: readonly unknown[]) {
  const [missing, more] = [[...stated], [...found]];
  const pairs: (readonly [unknown, unknown])[] = [];
  const take = (isPair: (one: unknown, other: unknown) => boolean): void => {
    for (const one of [...missing]) {
      const at = more.findIndex((other) => isPair(one, other));
      if (at === -1) continue;
      pairs.push([one, more[at]]);
      more.splice(at, 1);
      missing.splice(missing.indexOf(one), 1);
    }
  };
  take((one, other) => compare(one, other).differences.length === 0);
  take((one, other) => nameIn(one) !== undefined && nameIn(one) === nameIn(other));
  take(() => true);
  return [
    ...pairs,
    ...missing.map((one) => [one, undefined] as const),
    ...more.map((other) => [undefined, other] as const),
  ];
}

const NAMES = ["Id", "Sid", "Name", "MetricName", "Key"];

function nameIn(element: unknown): string | undefined {
  if (!isObject(element)) return undefined;
  const key = NAMES.find((each) => typeof element[each] === "string");
  return key === undefined ? undefined : String(element[key]);
}

function placeOf(path: string, element: unknown): string {
  const name = nameIn(element);
  return name === undefined ? path : `${path}[${name}]`;
}

/** Also where only something in it is filled in. The names of elements are no part of such a path. */
function isFilledIn(path: string, found: unknown, { filledIn }: Growing): boolean {
  const values = filledIn[path.replaceAll(/\[[^\]]*\]/g, "")] ?? [];
  return values.some((value) => compare(value, found).differences.length === 0);
}

function hasFilledInBelow(path: string, { filledIn }: Growing): boolean {
  const start = `${path.replaceAll(/\[[^\]]*\]/g, "")}.`;
  return Object.keys(filledIn).some((each) => each.startsWith(start));
}

/** A document that is written as text, where it is one or the other side has one; a policy in one form. */
function opened(value: unknown, other: unknown): unknown {
  const document = documentIn(value);
  if (document === undefined) return isPolicy(value) ? inOneForm(value) : value;
  return isObject(other) || documentIn(other) !== undefined ? opened(document, undefined) : value;
}

const VIEW = /^\/\* Presto View: (\S+) \*\/$/;

/** Of a text that is JSON, or the definition of a view; undefined for anything else. */
function documentIn(text: unknown): Members | undefined {
  if (typeof text !== "string") return undefined;
  const [, view] = VIEW.exec(text) ?? [];
  try {
    const value: unknown = JSON.parse(view === undefined ? text : Buffer.from(view, "base64").toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isPolicy = (value: unknown): value is Members => isObject(value) && "Statement" in value;

/** To IAM one text is a list of one, and the order of a list says nothing. */
function inOneForm(policy: Members): Members {
  const { Statement } = policy;
  return { ...policy, Statement: (Array.isArray(Statement) ? Statement : [Statement]).map(sorted) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? value[0] : value.toSorted();
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sorted(each)]));
}

function difference(path: string, stated: unknown, found: unknown): string {
  const [expected, other] = [shown(stated), shown(found)];
  let at = 0;
  while (at < expected.length && expected[at] === other[at]) at += 1;
  const from = Math.max(expected.length, other.length) > MOST_SHOWN ? Math.max(0, at - BEFORE) : 0;
  return `${path}: expected ${cut(expected, from)}, found ${cut(other, from)}`;
}

const MOST_SHOWN = 120;
const BEFORE = 40;

function shown(value: unknown): string {
  if (isAbsent(value)) return "nothing";
  if (value instanceof Date) return value.toISOString();
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function cut(text: string, from: number): string {
  const part = text.slice(from, from + MOST_SHOWN).replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${part}${text.length > from + MOST_SHOWN ? "…" : ""}`;
}

/** To AWS what is empty is not there. */
function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.values(value).every(isAbsent);
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
