// What an account's credentials look like, the port that reads them from where they are kept, and those that requests are
// sent with: the ones read at the start, until the service refuses them and others are stored.

import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import type { Logger } from "../runtime/logger.ts";

/** What a file or a secret may hold. */
export const EXAMPLE = '{"method":"session","email":"…","password":"…"}';
const OTHER_FORMS =
  'or the same with the method "basic", or {"method":"oauth","client_id":"…","client_secret":"…"}';

const text = (key: string, also = "", pattern = /./s) => {
  const error = `"${key}" must be a text that is not empty${also}`;
  return z.string({ error }).regex(pattern, { error });
};
const password = text("password");

const byMethod = <const Method extends string, Members extends z.ZodRawShape>(
  method: Method,
  shape: Members,
) => {
  const keys = Object.keys(shape).map((key) => `"${key}"`);
  const others = `with the method "${method}" they take the keys "method", ${keys.join(" and ")} and no others`;
  return z.strictObject(
    { method: z.literal(method), ...shape },
    { error: ({ code }) => (code === "unrecognized_keys" ? others : undefined) },
  );
};

const methods = [
  byMethod("session", { email: text("email"), password }),
  // RFC 7617 §2: a user-id with a colon cannot be separated from the password.
  byMethod("basic", { email: text("email", " and has no colon", /^[^:]+$/), password }),
  byMethod("oauth", { client_id: text("client_id"), client_secret: text("client_secret") }),
] as const;

const schema = z
  .record(z.string(), z.unknown(), { error: "they must be a JSON object" })
  .pipe(z.discriminatedUnion("method", methods, { error: '"method" must be "session", "basic" or "oauth"' }))
  .readonly();

export type ServiceCredentials = z.infer<typeof schema>;
export type Method = ServiceCredentials["method"];
/** All of them, those that a person has first. */
export const METHODS: readonly Method[] = methods.map(({ shape }) => shape.method.value);
/** Credentials of a person, with which a login or HTTP Basic works. */
export type PasswordCredentials = Extract<ServiceCredentials, { readonly method: "session" | "basic" }>;
/** Credentials of a client of the identity provider. The client's tokens are kept in a place of their own. */
export type OAuthCredentials = Extract<ServiceCredentials, { readonly method: "oauth" }>;

/** Reads one account's credentials: no caching, no retries. Throws `SyncError` `CREDENTIALS_INVALID`. */
export interface Credentials {
  read(): Promise<ServiceCredentials>;
  /** Which version of the stored credentials `read` gave, by a name that another value does not have; absent where there are no versions. */
  versionOf?(read: ServiceCredentials): string | undefined;
}

/** Parses the credentials' JSON. Throws `CREDENTIALS_INVALID`, naming keys and expectations and never a value. */
export function parseCredentials(json: string): ServiceCredentials {
  const { data, error } = schema.safeParse(parseJson(json));
  if (data) return data;
  const wrong = error.issues.filter(({ code }) => code !== "unrecognized_keys");
  const problems = (wrong.length > 0 ? wrong : error.issues).map(({ message }) => message);
  throw invalid(problems.join("; "));
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

function invalid(problem: string): SyncError {
  return new SyncError("CREDENTIALS_INVALID", `The credentials are not usable: ${problem}.`, {
    next: `Expected: ${EXAMPLE}, ${OTHER_FORMS}.`,
  });
}

/** A run that meets it is skipped, not failed: a schedule may start before a person has filled the secret. */
export class CredentialsNotSetUp extends SyncError {
  constructor(message: string, options: ConstructorParameters<typeof SyncError>[2] = {}) {
    super("CREDENTIALS_INVALID", message, options);
  }
}

/** Sends nothing and repeats nothing. The method stays what it was: another one needs a new run. */
export class CurrentCredentials<Kind extends ServiceCredentials = ServiceCredentials> {
  readonly #readAgain: (() => Promise<ServiceCredentials>) | undefined;
  readonly #logger: Pick<Logger, "info">;
  #current: Kind;

  /** @param readAgain reads what is stored now. Throws `SyncError` */
  constructor(
    first: Kind,
    readAgain: (() => Promise<ServiceCredentials>) | undefined,
    logger: Pick<Logger, "info">,
  ) {
    this.#current = first;
    this.#readAgain = readAgain;
    this.#logger = logger;
  }

  get current(): Kind {
    return this.#current;
  }

  /** After the current ones were refused: whether others are stored, which are then the current ones. */
  async haveChanged(): Promise<boolean> {
    const stored = await this.#stored();
    if (stored === undefined || !hasMethodOf(this.#current, stored)) return false;
    if (isDeepStrictEqual(stored, this.#current)) return false;
    this.#current = stored;
    this.#logger.info("the service refused the credentials; others have been stored since, and are used now");
    return true;
  }

  /** Undefined if they cannot be read: the refusal is then the error to report. */
  async #stored(): Promise<ServiceCredentials | undefined> {
    try {
      return await this.#readAgain?.();
    } catch (error) {
      if (error instanceof SyncError) return undefined;
      throw error;
    }
  }
}

function hasMethodOf<Kind extends ServiceCredentials>(
  { method }: Kind,
  stored: ServiceCredentials,
): stored is Kind {
  return stored.method === method;
}
