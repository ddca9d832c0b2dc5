// The errors an invocation ends with: what Lambda shows to the caller, keeps in the failure queue and logs.

import type { ErrorCode, SyncError } from "../job/errors/sync-error.ts";

/** Its `name` is the code, by which retry rules and log filters tell one failure from another. */
export class InvocationFailed extends Error {
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

/** Everything that a person who is called at night needs: what, why, what to do, which run. */
export function failureOf({ code, message }: SyncError, start: FailedStart): InvocationFailed {
  return new InvocationFailed(code, `${message}${suffix(start)}`);
}

/**
 * An error that nobody foresaw. Its message may quote data, so only its kind and its place go on.
 */
export function defectOf(error: unknown, start: FailedStart): InvocationFailed {
  const kind = error instanceof Error ? error.name : typeof error;
  const failure = new InvocationFailed(
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
