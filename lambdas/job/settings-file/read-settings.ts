// From a settings file, or what cdk.json says, to settings, or to a message that names every wrong key, each that is there
// twice, or the first place that is no JSON.

import { readFileSync } from "node:fs";
import type { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { plainEnglish, problemsOf } from "../settings/setting-problem.ts";
import { isErrno } from "../storage/directory/file-error.ts";

/** Where the settings stand, for messages. */
export interface SettingsSource {
  /** The file. */
  readonly title: string;
  /** The key of the settings in it; empty if they are the whole file. */
  readonly keyPath: readonly string[];
}

/** Throws `CONFIG_INVALID` naming every wrong key, what was expected and what came. */
export function parseSettings<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
  source: SettingsSource,
): Output {
  const parsed = schema.safeParse(given, { error: plainEnglish });
  if (parsed.success) return parsed.data;
  throw unusableSettings(
    source,
    problemsOf(parsed.error.issues, given, (path) => keyIn(source, path)),
  );
}

/** @param problem what was expected at the path, and what came */
export function unusableSetting(
  source: SettingsSource,
  path: readonly PropertyKey[],
  problem: string,
): SyncError {
  return unusableSettings(source, [`${keyIn(source, path)}: ${problem}`]);
}

/** @param problems a line for each */
function unusableSettings({ title }: SettingsSource, problems: readonly string[]): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    [`${title}: these settings are not usable.`, ...problems.map((each) => `  ${each}`)].join("\n"),
  );
}

/** `eventSync.accounts.uk.schedule`. */
function keyIn({ keyPath }: SettingsSource, path: readonly PropertyKey[]): string {
  const keys = [...keyPath, ...path];
  return keys.length === 0 ? "the file" : keys.map(String).join(".");
}

/**
 * What stands in the file, undefined if there is none. Throws `CONFIG_INVALID` if it is not readable as JSON, or has a
 * key twice: which of the two is meant, the file does not say.
 * @param title of the file, for messages
 */
export function readSettingsFile(path: string, title: string): unknown {
  // Some editors begin a file with a byte order mark.
  const text = readText(path)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  const { repeated, wrongAt } = jsonPlaces(text);
  if (wrongAt !== undefined) {
    const [line, column] = wrongAt.split(":");
    throw invalid(`The settings file ${path} is not valid JSON at line ${line}, column ${column}.`);
  }
  if (repeated.length === 0) return JSON.parse(text);
  const source = { title, keyPath: [] };
  throw unusableSettings(
    source,
    repeated.map(
      ({ path: key, places }) =>
        `${keyIn(source, key)}: expected once, and got twice, at ${places.join(" and ")} (line:column)`,
    ),
  );
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw invalid(`The settings file ${path} cannot be read (${code}).`);
  }
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}

// Where things stand in a JSON text that a person writes.

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
