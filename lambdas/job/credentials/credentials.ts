// What an account's credentials look like, and the port that reads them from where they are kept.

import { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";

const EXPECTED = {
  method: '"session" or "basic"',
  email: "a text that is not empty",
  password: "a text that is not empty",
} as const;

const text = z.string().min(1);

const schema = z
  .discriminatedUnion("method", [
    z.strictObject({ method: z.literal("session"), email: text, password: text }),
    // RFC 7617 §2: a user-id with a colon cannot be separated from the password.
    z.strictObject({ method: z.literal("basic"), email: text.regex(/^[^:]+$/), password: text }),
  ])
  .readonly();

export type ServiceCredentials = z.infer<typeof schema>;

/** Reads one account's credentials: no caching, no retries. Throws `SyncError` `CREDENTIALS_INVALID`. */
export interface Credentials {
  read(): Promise<ServiceCredentials>;
  /** Which version of the stored credentials `read` gave, by a name that another value does not have; absent where there are no versions. */
  versionOf?(read: ServiceCredentials): string | undefined;
}

/** Parses the credentials' JSON. Throws `CREDENTIALS_INVALID`, naming keys and expectations and never a value. */
export function parseCredentials(json: string): ServiceCredentials {
  const value = parseJson(json);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(describe(value, result.error));
}

function parseJson(json: string): unknown {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch {
    // The parser's own error quotes the text, which holds the password.
    throw invalid("they are not valid JSON");
  }
}

function describe(value: unknown, error: z.ZodError): string {
  const keys = new Set(
    error.issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? [] : issue.path.slice(0, 1))),
  );
  const named = Object.entries(EXPECTED).filter(([key]) => keys.has(key));
  if (!isObject(value)) return "they must be a JSON object";
  if (named.length === 0) return 'they take the keys "method", "email" and "password" and no others';
  return named
    .map(
      ([key, expected]) =>
        `"${key}" must be ${expected}${key === "email" && value["method"] === "basic" ? " and has no colon" : ""}`,
    )
    .join("; ");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(problem: string): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The credentials are not usable: ${problem}. Expected: {"method":"session","email":"…","password":"…"}, or the ` +
      'same with the method "basic".',
  );
}
