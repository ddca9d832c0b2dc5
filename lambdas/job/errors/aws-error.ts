// The error of an AWS client, reduced to what our errors repeat: name, status, AWS's own sentence.

import * as z from "zod";

/** AWS's sentences name principals, actions and resources, and are sometimes long. */
const MAX_MESSAGE_CHARS = 400;

const schema = z.object({
  name: z.string(),
  message: z.string(),
  /** The code of a network error, such as ECONNREFUSED. */
  code: z.string().optional().catch(undefined),
  /** The clients put it on every error of a request that was sent or tried. */
  $metadata: z
    .object({ httpStatusCode: z.number().optional(), requestId: z.string().optional() })
    .optional()
    .catch(undefined),
});

export interface AwsError {
  readonly name: string;
  readonly status: number | undefined;
  /** One line, cut short. */
  readonly message: string;
  readonly requestId: string | undefined;
}

/** Undefined for an error that no request to AWS caused: a mistake of ours, or what a test or a caller threw. */
export function awsError(error: unknown): AwsError | undefined {
  const parsed = error instanceof Error ? schema.safeParse(error).data : undefined;
  if (parsed === undefined) return undefined;
  const { name, code, message, $metadata } = parsed;
  if ($metadata === undefined && !CREDENTIALS.has(name)) return undefined;
  return {
    name: name === "Error" ? (code ?? name) : name,
    status: $metadata?.httpStatusCode,
    message: message.replaceAll(/\s+/g, " ").slice(0, MAX_MESSAGE_CHARS),
    requestId: $metadata?.requestId,
  };
}

/** The remedy for failures that every service of AWS may have; undefined for any other. */
export function commonRemedy({ name, status, message }: AwsError): string | undefined {
  if (CREDENTIALS.has(name)) {
    return `AWS does not accept the credentials of this process. Log in to AWS again (for example \`aws sso login\`), or set AWS_PROFILE. AWS says: ${message}`;
  }
  if (name === "RequestTimeTooSkewed") return "the clock of this machine is wrong. Set it and start again.";
  if (isTransient({ name, status })) {
    return `AWS did not respond, or is too busy. Start again later; if that does not help, check network, proxy and region. AWS says: ${message}`;
  }
  return undefined;
}

/** No response, or one after which a retry may succeed. */
export function isTransient({ name, status }: Pick<AwsError, "name" | "status">): boolean {
  return !CREDENTIALS.has(name) && (status === undefined || status >= 500 || BUSY.has(name));
}

/** An `Error` that is safe to log as a cause: no response, no headers. */
export function shortCause({ name, message, requestId }: AwsError): Error {
  const cause = new Error(requestId === undefined ? message : `${message} (request ${requestId})`);
  cause.name = name;
  return cause;
}

const CREDENTIALS: ReadonlySet<string> = new Set([
  "CredentialsProviderError",
  "TokenProviderError",
  "ExpiredToken",
  "ExpiredTokenException",
  "InvalidToken",
  "InvalidAccessKeyId",
  "InvalidClientTokenId",
  "UnrecognizedClientException",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
]);

const BUSY: ReadonlySet<string> = new Set([
  "SlowDown",
  "ServiceUnavailable",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
  "RequestLimitExceeded",
  // Glue's own, with status 400.
  "OperationTimeoutException",
  "ConcurrentModificationException",
]);
