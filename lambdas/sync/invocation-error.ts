// The error that a failed invocation ends with: Lambda shows it to the caller, logs it and keeps it in the failure queue.

import { type ErrorCode, SyncError } from "../job/errors/sync-error.ts";

/** Its `name` is the code: log filters and callers tell failures apart by it. */
export class InvocationError extends Error {
  override readonly name: ErrorCode | "UNEXPECTED";

  constructor(name: ErrorCode | "UNEXPECTED", message: string) {
    super(message);
    this.name = name;
  }
}

export interface FailedStart {
  readonly account?: string;
  readonly run_id?: string;
}

/** Says what failed, what to do, and for which account and run. */
export function invocationError(error: unknown, start: FailedStart): InvocationError {
  if (!(error instanceof SyncError)) return unexpectedError(error, start);
  return new InvocationError(error.code, `${error.message}${suffix(start)}`);
}

/** The message of an unforeseen error may quote data, so only its kind and its stack frames are kept. */
function unexpectedError(error: unknown, start: FailedStart): InvocationError {
  const kind = error instanceof Error ? error.name : typeof error;
  const failure = new InvocationError(
    "UNEXPECTED",
    `Unexpected error (${kind}). This is a defect: please report it.${suffix(start)}`,
  );
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  failure.stack = [`${failure.name}: ${failure.message}`, ...frames].join("\n");
  return failure;
}

function suffix({ account, run_id }: FailedStart): string {
  const parts = [
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(run_id === undefined ? [] : [`run ${run_id}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
