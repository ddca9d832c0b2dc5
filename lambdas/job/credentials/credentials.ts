// What an account's credentials look like, and the port that reads them from where they are kept.

import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import * as z from "zod";
import { type AwsError, awsError, commonRemedy, isTransient, shortCause } from "../errors/aws-error.ts";
import { SyncError } from "../errors/sync-error.ts";

/** What a file or a secret may hold. */
export const EXAMPLE = '{"method":"session","email":"…","password":"…"}';
const OTHER_FORMS =
  'or the same with the method "basic", or {"method":"oauth","client_id":"…","client_secret":"…"}';

const text = (key: string, also = "", pattern = /./s) => {
  const error = `"${key}" must be a text that is not empty${also}`;
  return z.string({ error }).regex(pattern, { error });
};
const password = text("password");

const byMethod = <const Method extends string, Shape extends z.ZodRawShape>(method: Method, shape: Shape) => {
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
/** Those of a person, with which a login or HTTP Basic works. */
export type PasswordCredentials = Extract<ServiceCredentials, { readonly method: "session" | "basic" }>;
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

export interface SecretOptions {
  readonly client: SecretsManagerClient;
  /** Name or ARN. */
  readonly secretId: string;
}

interface SecretValue {
  readonly version: string | undefined;
  /** Undefined where the value is bytes. */
  readonly text: string | undefined;
}

/** By label: the version that has it. */
export type Labels = ReadonlyMap<string, string>;

/**
 * Always the value that is current now; undefined for a secret that never had one. Throws AWS's errors. That of a secret
 * without a value is the one of a secret that does not exist: only the description differs.
 */
export async function readSecret(options: SecretOptions): Promise<SecretValue | undefined> {
  const { client, secretId: SecretId } = options;
  try {
    const { VersionId, SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
    return { version: VersionId, text: SecretString };
  } catch (error) {
    if (awsError(error)?.name !== "ResourceNotFoundException") throw error;
    const labels = await labelsOf(options).catch((reason: unknown) => {
      throw awsError(reason)?.name === "AccessDeniedException" ? error : reason;
    });
    if (labels.size > 0) throw error;
    return undefined;
  }
}

/** None for a secret that never had a value. Throws AWS's errors. */
export async function labelsOf({ client, secretId: SecretId }: SecretOptions): Promise<Labels> {
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  return new Map(
    Object.entries(VersionIdsToStages).flatMap(([version, stages]) =>
      stages.map((label) => [label, version] as const),
    ),
  );
}

/**
 * What AWS refused, in words; any other error as it is. A retry may help where AWS does not respond.
 * @param what was tried: "read the secret"
 * @param rights what it needs, with those on the secret's key
 */
export function secretRefused(secretId: string, what: string, rights: string, error: unknown): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name } = failure;
  const code =
    isTransient(failure) || name === "LimitExceededException" ? "STORE_FAILED" : "CREDENTIALS_INVALID";
  const problem = `Could not ${what} ${secretId}: ${remedy(rights, failure)} (${name})`;
  const fields = { secret: secretId, aws_error: name };
  return new SyncError(code, problem, { fields, cause: shortCause(failure) });
}

function remedy(rights: string, failure: AwsError): string {
  const { name, message } = failure;
  switch (name) {
    case "AccessDeniedException":
      return `this process lacks the permission. Give it ${rights} on the secret's own key if it has one. AWS says: ${message}`;
    case "ResourceNotFoundException":
      return "there is no such secret in this account and region, or it has no value yet. Check the name and the region (AWS_REGION), deploy the stack, or fill the secret.";
    case "InvalidRequestException":
      return `is it marked for deletion? Restore it. AWS says: ${message}`;
    case "LimitExceededException":
      return `it has too many versions. Secrets Manager keeps each for 24 hours, about 100 at most. Ask the operator of the identity provider for access tokens that are valid for longer. AWS says: ${message}`;
    default:
      return commonRemedy(failure) ?? `AWS says: ${message}`;
  }
}
