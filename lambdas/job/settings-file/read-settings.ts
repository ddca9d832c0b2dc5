// From a settings file, or what cdk.json says, to settings, or to a message that names every wrong key, each that is there
// twice, or a place that is no JSON.

import type { z } from "zod";
import { NOT_UTF8, utf8Text } from "../errors/shown-text.ts";
import { codeOf, SyncError } from "../errors/sync-error.ts";
import { elements, MalformedJson, members, OversizeJson, rootSpan, type Span } from "../json/json-scanner.ts";
import { MOST_TEXT_BYTES, readFileAtMostSync, TooLarge } from "../runtime/bounded-input.ts";
import { PLAIN_ENGLISH, problemsOf } from "../settings/setting-problem.ts";
import { accountName } from "../settings/values.ts";
import { ACCOUNT_SETTINGS } from "./settings.ts";
import { SHARED_SETTINGS } from "./settings-schema.ts";

/** Where the settings stand, for messages. */
export interface SettingsSource {
  /** The file. */
  readonly title: string;
  /** The key of the settings in it; empty if they are the whole file. */
  readonly keyPath: readonly string[];
}

/** Throws `CONFIG_INVALID` naming every wrong key, what was expected and what came. */
export function checkedSettings<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
  source: SettingsSource,
): Output {
  const parsed = schema.safeParse(given, PLAIN_ENGLISH);
  if (parsed.success) return parsed.data;
  throw unusableSettings(
    source,
    problemsOf(parsed.error.issues, (path) => keyIn(source, path)),
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
  const text = readText(path);
  if (text === undefined) return undefined;
  const { repeated, wrongAt } = placesIn(text, path);
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

/**
 * What of a settings file is right, where the whole of it is not: what can be told, and to whom. Undefined where there is
 * none, or it is no JSON. A key that is there twice says nothing.
 */
export function rightSettings(path: string): RightSettings | undefined {
  let given: unknown;
  let repeated: ReadonlySet<string>;
  try {
    const text = readText(path);
    if (text === undefined) return undefined;
    given = JSON.parse(text);
    repeated = new Set(placesIn(text, path).repeated.map(({ path: keys }) => keys.join("\n")));
  } catch {
    return undefined;
  }
  const rightOf = (value: unknown, ...keys: readonly string[]): object =>
    Object.fromEntries(
      Object.entries(Object(value)).flatMap(([key, each]) => {
        const right = repeated.has([...keys, key].join("\n")) ? undefined : SCHEMAS.get(key)?.safeParse(each);
        return right?.success ? [[key, right.data]] : [];
      }),
    );
  const accounts = Object.entries(Object(Object(given).accounts)).filter(
    ([name]) => accountName.safeParse(name).success,
  );
  return {
    ...rightOf(given),
    accounts: Object.fromEntries(accounts.map(([name, own]) => [name, rightOf(own, "accounts", name)])),
  };
}

export type RightSettings = Readonly<Record<string, unknown>> & {
  readonly accounts: Readonly<Record<string, object>>;
};

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS }).map(([key, { schema }]) => [key, schema]),
);

function readText(path: string): string | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFileAtMostSync(path, MOST_TEXT_BYTES);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (error instanceof TooLarge) throw invalid(`The settings file ${path} ${error.message}.`);
    throw invalid(`The settings file ${path} cannot be read (${codeOf(error) ?? "unknown"}).`);
  }
  const text = utf8Text(bytes);
  if (text === undefined) throw invalid(`The settings file ${path} ${NOT_UTF8}`);
  return text;
}

function placesIn(text: string, path: string): JsonPlaces {
  try {
    return jsonPlaces(text);
  } catch (error) {
    if (!(error instanceof OversizeJson)) throw error;
    throw invalid(`The settings file ${path} ${error.message}, and no setting is.`);
  }
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}

interface RepeatedKey {
  readonly path: readonly string[];
  /** `line:column` of the key before, and of this one. */
  readonly places: readonly [string, string];
}

interface JsonPlaces {
  readonly repeated: readonly RepeatedKey[];
  /** `line:column` of something that may not stand there; undefined for a text that is JSON. */
  readonly wrongAt: string | undefined;
}

/** No settings are nested as deep: what is deeper is looked at as a whole. */
const MAX_DEPTH = 20;

/** Where things stand in a JSON text that a person writes. Throws `OversizeJson` for one that is nested too deep. */
export function jsonPlaces(text: string): JsonPlaces {
  const repeated: RepeatedKey[] = [];
  const visit = (span: Span, path: readonly string[]): void => {
    const first = path.length < MAX_DEPTH ? text[span.start] : undefined;
    if (first === "{") {
      const keys = new Map<string, number>();
      for (const { key, keySpan, value } of members(text, span)) {
        requireJson(text, keySpan);
        const before = keys.get(key);
        const here = [...path, key];
        if (before !== undefined)
          repeated.push({ path: here, places: [placeOf(text, before), placeOf(text, keySpan.start)] });
        keys.set(key, keySpan.start);
        visit(value, here);
      }
    } else if (first === "[") {
      let index = 0;
      for (const element of elements(text, span)) visit(element, [...path, String(index++)]);
    } else requireJson(text, span);
  };
  try {
    visit(rootSpan(text), []);
    return { repeated, wrongAt: undefined };
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    return { repeated, wrongAt: placeOf(text, error.position) };
  }
}

/** The scanner does not look into strings and literals. */
function requireJson(text: string, { start, end }: Span): void {
  try {
    JSON.parse(text.slice(start, end));
  } catch {
    throw new MalformedJson("JSON", start);
  }
}

/** The line and column of a place, which editors count from 1. */
function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}
