// What a person at a shell is told by an error, for tests to look into.

import type { Check } from "../../lambdas/job/commands/check-service.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { ANY_SHELL, say, sayError } from "../../lambdas/words/style.ts";

/** The whole text of an error; of any other value how it reads. */
export function said(error: unknown): string {
  return error instanceof SyncError ? sayError(error, ANY_SHELL) : String(error);
}

interface Told extends Pick<SyncError, "code" | "fields" | "isRetryable"> {
  /** With what to do. */
  readonly message: string;
}

/** An error as it is told, with the whole text as its message; any other value as it is. */
export function told(error: unknown): unknown {
  if (!(error instanceof SyncError)) return error;
  const { code, fields, isRetryable, cause } = error;
  return { code, fields, isRetryable, cause, message: said(error) } satisfies Told & {
    readonly cause: unknown;
  };
}

/** What the work throws, as it is told. */
export async function toldBy(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    return told(error);
  }
  throw new Error("nothing was thrown");
}

/** Checks as they are printed. */
export function saidChecks(
  checks: readonly Check[],
): readonly (Omit<Check, "remedy"> & { readonly remedy: string | null })[] {
  return checks.map(({ remedy, ...one }) => ({ ...one, remedy: remedy && say(remedy, ANY_SHELL) }));
}
