// One line for a wrong value: what was expected, what came. A value that may hold a secret is not shown.

import type { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";

/** Enough of a value to recognise it. */
const MAX_SHOWN = 80;

const OF_A_SECRET = /password|passwd|secret|token|api_?key|e-?mail/i;

const KINDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a text",
};

/** The value as the schema makes it. Throws `CONFIG_INVALID` with what was expected and what came, in one line. */
export function parseSetting<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const parsed = schema.safeParse(value, { error: plainEnglish });
  if (parsed.success) return parsed.data;
  throw new SyncError(
    "CONFIG_INVALID",
    parsed.error.issues.map((issue) => problemOf(issue, value)).join("; "),
  );
}

/** The words of an issue whose schema has none of its own. */
export function plainEnglish(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "invalid_type") return `expected ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") {
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
  }
  return "expected another value";
}

/** One line for each wrong key. `issues` are those of a schema that was given `plainEnglish` and `input`. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  nameOf: (path: readonly PropertyKey[]) => string,
): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [`${nameOf(issue.path)}: ${problemOf(issue, input)}`];
    // The value is not shown: it may be a password.
    return issue.keys.map((key) => {
      const why = OF_A_SECRET.test(key) ? "secrets belong in the credentials" : "is it misspelt?";
      return `${nameOf([...issue.path, key])}: expected no such key, and got one; ${why}`;
    });
  });
}

function problemOf(issue: z.core.$ZodIssue, input: unknown): string {
  const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? "") : issue.message;
  if (message.includes(", and got ")) return message;
  return `${message}, and got ${got(issue, input)}`;
}

function got(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === "invalid_key") return JSON.stringify(String(issue.path.at(-1)));
  const isShown = issue.code !== "custom" || issue.params?.["isShown"] !== false;
  return shown(valueAt(input, issue.path), isShown);
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null
        ? new Map(Object.entries(value)).get(String(key))
        : undefined,
    input,
  );
}

function shown(value: unknown, isShown: boolean): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string" && (!isShown || mayHoldSecret(value))) {
    return "a text that is not shown here, because it may hold a password";
  }
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The password of a URL stands between ":" and "@", a token often in its query. */
function mayHoldSecret(value: string): boolean {
  const colon = value.indexOf(":");
  const isUrl = colon !== -1 && value.startsWith("//", colon + 1);
  return colon !== -1 && (value.lastIndexOf("@") > colon || (isUrl && /[?#]/.test(value.slice(colon))));
}
