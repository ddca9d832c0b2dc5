// One line for a wrong value: what was expected, what came. A value that may hold a secret is not shown.

import * as z from "zod";
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
  const parsed = schema.safeParse(value, PLAIN_ENGLISH);
  if (parsed.success) return parsed.data;
  throw new SyncError("CONFIG_INVALID", parsed.error.issues.map(problemOf).join("; "));
}

/** For each parsing whose issues a person reads. */
export const PLAIN_ENGLISH: z.core.ParseContext<z.core.$ZodIssue> = {
  error: plainEnglish,
  reportInput: true,
};

/** The words of an issue whose schema has none of its own. */
function plainEnglish(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "invalid_type") return `expected ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") {
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
  }
  if (issue.code === "unrecognized_keys") {
    const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
    return issue.keys.map((key) => unknownKey(key, known)).join("\n");
  }
  return "expected another value";
}

/** A line for each key. The value is not shown: it may be a password. */
function unknownKey(key: string, known: readonly string[]): string {
  const near = OF_A_SECRET.test(key) ? undefined : nearest(key, known);
  const question = near === undefined ? "is it misspelt?" : `did you mean ${near}?`;
  return `there is no such key; ${OF_A_SECRET.test(key) ? "secrets belong in the credentials" : question}`;
}

/** The known word that begins like this one, or else differs from it in the fewest letters, and in few. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const given = letters(word);
  const beginning = known.find((each) => given.length > 3 && letters(each).startsWith(given));
  if (beginning !== undefined) return beginning;
  const [first] = known
    .map((each) => ({ each, steps: distance(given, letters(each)) }))
    .filter(({ each, steps }) => steps <= Math.min(3, Math.floor(each.length / 3)))
    .toSorted((a, b) => a.steps - b.steps);
  return first?.each;
}

/** How many letters are to be put in, taken out, or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** One line for each wrong key. `issues` are those of a parsing with `PLAIN_ENGLISH`. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  nameOf: (path: readonly PropertyKey[]) => string,
): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [`${nameOf(issue.path)}: ${problemOf(issue)}`];
    const lines = issue.message.split("\n");
    return issue.keys.map((key, index) => `${nameOf([...issue.path, key])}: ${lines[index]}`);
  });
}

function problemOf(issue: z.core.$ZodIssue): string {
  const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? "") : issue.message;
  if (message.includes(", and got ")) return message;
  const isShown = issue.code !== "custom" || issue.params?.["isShown"] !== false;
  return `${message}, and got ${shown(issue.input, isShown)}`;
}

function shown(value: unknown, isShown: boolean): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string" && value !== "" && (!isShown || mayHoldSecret(value))) {
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
