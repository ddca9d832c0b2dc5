// Explains errors of S3: what they mean and what to do.

import { awsError, commonRemedy, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** The verbs of messages, and the permission that each needs. */
const PERMISSIONS = {
  read: "s3:GetObject on it, and s3:ListBucket on the bucket, without which S3 refuses a key that does not exist as well",
  write: "s3:PutObject and s3:GetObject on it",
  list: "s3:ListBucket on the bucket for this prefix",
  delete: "s3:DeleteObject on it",
} as const;

const MEANINGS: Readonly<Record<string, string>> = {
  NoSuchBucket: "the bucket does not exist. Deploy the stack, or name the right bucket.",
  PermanentRedirect: "the bucket is in another region. Set AWS_REGION to the bucket's region.",
  AuthorizationHeaderMalformed: "the bucket is in another region. Set AWS_REGION to the bucket's region.",
  // Restored alone it would be archived again, and Athena would not read it.
  InvalidObjectState:
    'a lifecycle rule of the bucket has archived it. Delete that rule (docs/cdk.md, "A bucket that exists"), restore the file (aws s3api restore-object), and copy it over itself (aws s3api copy-object --storage-class STANDARD --if-match <its ETag>).',
  ConditionalRequestConflict: "other processes keep writing the same object at the same time. Start again.",
};

/** `STORE_FAILED` for what S3 refused: "Could not <verb> <url>", why, and what to do. Any other error is returned as it is. */
export function s3Error(
  error: unknown,
  verb: keyof typeof PERMISSIONS,
  { url, owner }: { readonly url: string; readonly owner: string | undefined },
): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name, status, message } = failure;
  const foreign =
    owner === undefined
      ? ""
      : ` If it has that permission, the bucket does not belong to the AWS account ${owner}.`;
  // One key of several is refused in an answer with status 200.
  const refused =
    status === 403 || name === "AccessDenied"
      ? `AWS refuses it. Give this process ${PERMISSIONS[verb]}.${foreign} AWS says: ${message}`
      : undefined;
  const meaning =
    MEANINGS[name] ?? commonRemedy(failure) ?? refused ?? `S3 reports an error. AWS says: ${message}`;
  return new SyncError("STORE_FAILED", `Could not ${verb} ${url}: ${meaning} (${name})`, {
    fields: { url, aws_error: name, status: status ?? null, request_id: failure.requestId ?? null },
    cause: shortCause(failure),
  });
}
