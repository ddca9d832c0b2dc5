// Compares what the template states of a resource with what AWS says of it. What the template leaves open may be anything;
// a document, such as a policy or a definition, is stated whole.

/** Stands for a stated value that is not known here, such as one that another stack exports. It is not compared. */
export const UNKNOWN = Symbol("unknown");

export interface Comparison {
  /** `Target.Arn: expected …, found …`, the first difference of long texts in the middle. */
  readonly differences: readonly string[];
  /** The paths of what is not known. */
  readonly unknown: readonly string[];
}

export function compare(stated: unknown, found: unknown): Comparison {
  const into = { differences: [], unknown: [], isWhole: false };
  compareAt("", stated, found, into);
  return into;
}

interface Growing {
  readonly differences: string[];
  readonly unknown: string[];
  /** In a document nothing is left open. */
  readonly isWhole: boolean;
}

type Members = Readonly<Record<string, unknown>>;

function compareAt(path: string, stated: unknown, found: unknown, into: Growing): void {
  const [document, other] = [documentIn(stated), documentIn(found)];
  if (stated === UNKNOWN) into.unknown.push(path);
  else if (found === undefined && isFilled(stated)) into.differences.push(difference(path, stated, found));
  else if (other !== undefined && (document !== undefined || isObject(stated)))
    compareMembers(path, document ?? stated, other, { ...into, isWhole: true });
  else if (Array.isArray(stated)) compareLists(path, stated, Array.isArray(found) ? found : [], into);
  else if (isObject(stated)) compareMembers(path, stated, found, into);
  // CloudFormation takes numbers and booleans as texts.
  else if (String(stated ?? "") !== String(found ?? ""))
    into.differences.push(difference(path, stated, found));
}

function compareMembers(path: string, stated: unknown, found: unknown, into: Growing): void {
  const [expected, other] = [isObject(stated) ? stated : {}, isObject(found) ? found : {}];
  const keys = new Set([...Object.keys(expected), ...(into.isWhole ? Object.keys(other) : [])]);
  for (const key of keys) compareAt(`${path}${path && "."}${key}`, expected[key], other[key], into);
}

/** An element is compared with the one of its name, else with an equal one: their order says nothing to AWS. */
function compareLists(
  path: string,
  stated: readonly unknown[],
  found: readonly unknown[],
  into: Growing,
): void {
  const left = new Map(found.map((element) => [keyOf(element), element]));
  const missing: [string, unknown][] = [];
  for (const element of stated) {
    const key = keyOf(element);
    const at = placeOf(path, element);
    if (left.has(key)) compareAt(at, element, left.get(key), into);
    else missing.push([at, element]);
    left.delete(key);
  }
  const more = [...left.values()];
  for (const [n, [at, element]] of missing.entries()) compareAt(at, element, more[n], into);
  for (const element of more.slice(missing.length)) {
    into.differences.push(difference(placeOf(path, element), undefined, element));
  }
}

const NAMES = ["Id", "Sid", "Name", "MetricName"];

function nameIn(element: unknown): string | undefined {
  if (!isObject(element)) return undefined;
  const key = NAMES.find((each) => typeof element[each] === "string");
  return key === undefined ? undefined : String(element[key]);
}

const keyOf = (element: unknown): string => nameIn(element) ?? String(JSON.stringify(element));

function placeOf(path: string, element: unknown): string {
  const name = nameIn(element);
  return name === undefined ? path : `${path}[${name}]`;
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
  if (value === undefined || value === null || value === "") return "nothing";
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function cut(text: string, from: number): string {
  const part = text.slice(from, from + MOST_SHOWN).replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${part}${text.length > from + MOST_SHOWN ? "…" : ""}`;
}

/** What is stated as empty may be absent. */
const isFilled = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
