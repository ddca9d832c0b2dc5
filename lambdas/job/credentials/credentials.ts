// What an account's credentials look like, and the port that reads them from where they are kept.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";

const TEXT = "a text that is not empty";
const EXPECTED = {
  method: '"session", "basic" or "oauth"',
  email: TEXT,
  password: TEXT,
  client_id: TEXT,
  client_secret: TEXT,
} as const;

const EXAMPLE = '{"method":"session","email":"…","password":"…"}';
const OTHER_FORMS =
  'or the same with the method "basic", or {"method":"oauth","client_id":"…","client_secret":"…"}';

const text = z.string().min(1);

const schema = z
  .discriminatedUnion("method", [
    z.strictObject({ method: z.literal("session"), email: text, password: text }),
    // RFC 7617 §2: a user-id with a colon cannot be separated from the password.
    z.strictObject({ method: z.literal("basic"), email: text.regex(/^[^:]+$/), password: text }),
    z.strictObject({ method: z.literal("oauth"), client_id: text, client_secret: text }),
  ])
  .readonly();

export type ServiceCredentials = z.infer<typeof schema>;
/** Those of a person, with which a login or HTTP Basic works. */
export type PasswordCredentials = Exclude<ServiceCredentials, { readonly method: "oauth" }>;
/** Those of a client of the identity provider. Its tokens are kept in a place of their own. */
export type OAuthCredentials = Extract<ServiceCredentials, { readonly method: "oauth" }>;

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
  if (named.length === 0) {
    const keys = value["method"] === "oauth" ? '"client_id" and "client_secret"' : '"email" and "password"';
    return `with the method "${value["method"]}" they take the keys "method", ${keys} and no others`;
  }
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
    `The credentials are not usable: ${problem}. Expected: ${EXAMPLE}, ${OTHER_FORMS}.`,
  );
}

/** A run that meets it is skipped, not failed: a schedule may start before a person has filled the secret. */
export class CredentialsNotSetUp extends SyncError {
  constructor(message: string, options: ConstructorParameters<typeof SyncError>[2] = {}) {
    super("CREDENTIALS_INVALID", message, options);
  }
}
