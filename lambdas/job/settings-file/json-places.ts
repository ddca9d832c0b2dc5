// Where things stand in a JSON text that a person writes: keys that are there twice, and the first place that is no JSON.

const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a string may have none (RFC 8259 §7)
  /[{}[\]:,]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/y;
const WHITE = /[ \t\r\n]*/y;

interface RepeatedKey {
  readonly path: readonly string[];
  /** `line:column` of the key before, and of this one. */
  readonly places: readonly [string, string];
}

interface JsonPlaces {
  readonly repeated: readonly RepeatedKey[];
  /** `line:column` of the first token that may not stand there; undefined for a text that is JSON. */
  readonly wrongAt: string | undefined;
}

/** An object or a list that is still open. */
interface Open {
  readonly isObject: boolean;
  /** Where each key stands. */
  readonly keys: Map<string, number>;
  /** The last key, or the number of the element. */
  at: string;
  count: number;
}

type Expected = "value" | "key" | "colon" | "next";

export function jsonPlaces(text: string): JsonPlaces {
  const open: Open[] = [];
  const repeated: RepeatedKey[] = [];
  let expected: Expected = "value";
  for (let at = after(WHITE, text, 0); ; at = after(WHITE, text, at)) {
    const inside = open.at(-1);
    if (expected === "next" && inside === undefined && at === text.length) break;
    const end = after(TOKEN, text, at);
    const token = text.slice(at, end);
    const next: Expected | undefined = token === "" ? undefined : step(token, expected, inside);
    if (next === undefined) return { repeated, wrongAt: placeOf(text, at) };
    if (expected === "key" && token !== "}" && inside) {
      inside.at = String(JSON.parse(token));
      const before = inside.keys.get(inside.at);
      const path = open.map((each) => each.at);
      if (before !== undefined) repeated.push({ path, places: [placeOf(text, before), placeOf(text, at)] });
      inside.keys.set(inside.at, at);
    }
    if (token === "}" || token === "]") open.pop();
    if (inside && !inside.isObject && expected === "value") inside.at = String(inside.count);
    if (inside && expected === "value") inside.count += 1;
    if (token === "{" || token === "[")
      open.push({ isObject: token === "{", keys: new Map(), at: "", count: 0 });
    expected = next;
    at = end;
  }
  return { repeated, wrongAt: undefined };
}

/** What may follow; undefined for a token that may not stand here. */
function step(token: string, expected: Expected, inside: Open | undefined): Expected | undefined {
  const isEmpty = inside !== undefined && inside.count === 0 && inside.keys.size === 0;
  switch (token) {
    case "}":
      return inside?.isObject && (expected === "next" || (expected === "key" && isEmpty))
        ? "next"
        : undefined;
    case "]":
      return inside?.isObject === false && (expected === "next" || (expected === "value" && isEmpty))
        ? "next"
        : undefined;
    case ",":
      if (expected !== "next" || inside === undefined) return undefined;
      return inside.isObject ? "key" : "value";
    case ":":
      return expected === "colon" ? "value" : undefined;
    case "{":
      return expected === "value" ? "key" : undefined;
    case "[":
      return expected === "value" ? "value" : undefined;
  }
  if (expected === "key") return token.startsWith('"') ? "colon" : undefined;
  return expected === "value" ? "next" : undefined;
}

/** Where a match at `from` ends; `from` itself where there is none. */
function after(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** As editors count: from 1. */
function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}
