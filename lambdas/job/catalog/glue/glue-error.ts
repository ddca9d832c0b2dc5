// Explains errors of Glue: what they mean and what to do.

import { awsError, commonRemedy, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** A request to Glue: the API's name of the action, and the table. */
export interface GlueCall {
  readonly action: string;
  readonly database: string;
  readonly table: string;
}

const ACCESS_DENIED = "AccessDeniedException";
/** Glue cannot read or write the metadata of an encrypted catalog, mostly because a permission on its key is missing. */
const ENCRYPTION_FAILED = "GlueEncryptionException";

/** `CATALOG_FAILED` with why and what to do. An error that no request to AWS caused is returned as it is. */
export function glueError(error: unknown, call: GlueCall): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name, message } = failure;
  const meaning = meaningOf(name, message, call) ?? commonRemedy(failure);
  return catalogFailed(call, meaning ?? `AWS says: ${message}`, name, shortCause(failure));
}

/** `CATALOG_FAILED` for one entry of a batch that Glue refused. */
export function batchError(call: GlueCall, name = "unknown error", message = "nothing"): SyncError {
  const meaning = meaningOf(name, message, call) ?? `Start again. AWS says: ${message}`;
  return catalogFailed(call, meaning, name);
}

function meaningOf(name: string, message: string, { action, database, table }: GlueCall): string | undefined {
  const [kmsAction] = /kms:\w+/.exec(message) ?? [];
  if (name === ENCRYPTION_FAILED || (name === ACCESS_DENIED && kmsAction)) {
    return `the catalog is encrypted with a key of KMS that this process may not use. Give it ${kmsAction ?? "kms:Decrypt and kms:GenerateDataKey"} on that key, in its own policy and in the key's. AWS says: ${message}`;
  }
  switch (name) {
    case "EntityNotFoundException":
      return `the database ${database} or its table ${table} does not exist. Deploy the stack, or name the right database.`;
    case ACCESS_DENIED:
      return `AWS refuses it. Give this process glue:${action} on the catalog, the database and the table; where Lake Formation governs the database, grant it there too: DESCRIBE, ALTER, INSERT and DELETE on the table, and the data location. AWS says: ${message}`;
    default:
      return undefined;
  }
}

function catalogFailed(call: GlueCall, meaning: string, name: string, cause?: Error): SyncError {
  const { action, database, table } = call;
  return new SyncError(
    "CATALOG_FAILED",
    `What is published is safe, but readers may not see it yet: Glue's ${action} on ${database}.${table} failed: ${meaning} (${name})`,
    { fields: { action, database, table, aws_error: name }, cause },
  );
}
