// Describes a JSON text for an error message: names and types, never a value.

import { formatPointer, isObject } from "../../json/json-pointers.ts";
import { elements, type Member, members, rootSpan, type Span } from "../../json/json-scanner.ts";
import { NotJson } from "../requests/failure.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/** How a message shows the name of a member: names may be data too, or what was sent to a service that echoes it. */
export type ShownName = (name: string) => string;

const NAME = /^[\p{L}_@.-]{1,30}$/u;
/** An e-mail address, perhaps another person's. OData has names such as `items@odata.count`, which are none. */
const E_MAIL = /[^@]@(?!odata\.)[^@]*\./;

/** @param secrets what is sent: the e-mail address and the password, or those of a client. Asked for when one is needed */
export function shownNames(secrets: () => readonly string[]): ShownName {
  return (name) => {
    const isSecret = secrets().some((secret) => secret.toLowerCase() === name.toLowerCase());
    if (NAME.test(name) && !E_MAIL.test(name) && !isSecret) return name;
    return isUuid(name) ? "<uuid>" : "<key>";
  };
}

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. What is between the tokens is JSON. */
export function describeValue(
  text: string,
  shownName: ShownName,
  { start }: Pick<Span, "start"> = rootSpan(text),
  depth = 0,
): string {
  switch (text[start]) {
    case "{":
      return `{${describeChildren(members(text, { start }), text, shownName, depth)}}`;
    case "[":
      return `[${describeChildren(elements(text, { start }), text, shownName, depth)}]`;
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

function describeChildren(
  children: Iterable<Span | Member>,
  text: string,
  shownName: ShownName,
  depth: number,
): string {
  const shown: string[] = [];
  let count = 0;
  if (depth >= MAX_DEPTH) return "…";
  for (const child of children) {
    if (++count > MAX_COUNTED) break;
    if ("key" in child) {
      if (count <= MAX_KEYS)
        shown.push(`${shownName(child.key)}: ${describeValue(text, shownName, child.value, depth + 1)}`);
    } else if (count === 1) shown.push(describeValue(text, shownName, child, depth + 1));
  }
  if (count > MAX_COUNTED) shown.push(`… more than ${MAX_COUNTED} in all`);
  else if (count > shown.length) shown.push(`… ${count} in all`);
  return shown.join(", ");
}

/**
 * The pointer to the outermost value that has a weight, of several the heaviest, by names that are shown and through arrays of
 * one; undefined if there is none.
 */
export function pointerTo(
  root: unknown,
  weigh: (value: unknown) => number,
  shownName: ShownName,
): string | undefined {
  let level: readonly { readonly path: readonly string[]; readonly value: unknown }[] = [
    { path: [], value: root },
  ];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const weights = level.map(({ value }) => weigh(value));
    const heaviest = Math.max(0, ...weights);
    const found = heaviest > 0 ? level[weights.indexOf(heaviest)] : undefined;
    if (found) return formatPointer(found.path);
    level = level.flatMap(({ path, value }) =>
      childrenOf(value, shownName).map(([key, child]) => ({ path: [...path, key], value: child })),
    );
  }
  return undefined;
}

function childrenOf(
  value: unknown,
  shownName: ShownName,
): readonly (readonly [key: string, child: unknown])[] {
  if (Array.isArray(value)) return value.length === 1 ? [["0", value[0]]] : [];
  return isObject(value) ? Object.entries(value).filter(([key]) => shownName(key) === key) : [];
}

/** `JSON.parse`. Its own error quotes the input, so it is not the cause of ours. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The body as text, without a byte order mark. Throws `NotJson`. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new NotJson("a body that is not UTF-8");
  }
}

export function notJson(): NotJson {
  return new NotJson("a body that is not JSON");
}

/** 8-4-4-4-12 hexadecimal digits, any case, any version (docs/service-interface.md §2.1). */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}
