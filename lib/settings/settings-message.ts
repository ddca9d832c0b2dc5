// One line for a wrong setting: its key, what was expected, what came. A value that may hold a secret is not shown.

import type { z } from "zod";

/** Nobody has to read more than this of a value to recognise it. */
const MAX_SHOWN = 80;

export function describeIssue(issue: z.core.$ZodIssue, context: unknown): string {
  const key = ["eventSync", ...issue.path.map(String)].join(".");
  switch (issue.code) {
    case "unrecognized_keys":
      // The value stays unsaid: somebody may have put a password there.
      return issue.keys
        .map((name) => `${key}.${name}: expected no such key, and got one; is it misspelt?`)
        .join("\n  ");
    case "invalid_key":
      return `${key}: expected a name of 1 to 40 of a-z, 0-9, _ and -, beginning with a letter or digit, and got ${JSON.stringify(String(issue.path.at(-1)))}`;
    case "invalid_type":
      return `${key}: ${expectation(issue)}, and got ${shown(valueAt(context, issue.path))}`;
    default:
      return `${key}: ${issue.message}, and got ${shown(valueAt(context, issue.path))}`;
  }
}

/** Objects have no words of their own in the schema. */
function expectation({ message, expected }: z.core.$ZodIssueInvalidType): string {
  return message.startsWith("expected") ? message : `expected an ${expected}`;
}

function valueAt(context: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null
        ? new Map(Object.entries(value)).get(String(key))
        : undefined,
    context,
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  // The user name and password of a URL stand before an @, a token often in its query.
  if (typeof value === "string" && /:\/\/.*[@?#]/.test(value)) {
    return "a text that is not shown here, for it may hold a password";
  }
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
