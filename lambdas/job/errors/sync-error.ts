// What can go wrong, as a person and a program see it: one stable code, what has happened and why, fields, and what to do.

import { type Advice, advise, command, inOrder } from "./advice.ts";

/** Users and alarms branch on these; `docs/errors.md` lists each, and the message has the remedy. */
export const ERROR_CODES = [
  "CONFIG_INVALID",
  "CREDENTIALS_INVALID",
  "LOGIN_REFUSED",
  "ACCOUNT_DISABLED",
  "UNAUTHENTICATED",
  "AUTHORIZATION_EXPIRED",
  "NOT_ENTITLED",
  "SERVICE_UNAVAILABLE",
  "THROTTLED",
  "UNEXPECTED_RESPONSE",
  "LIST_INCOMPLETE",
  "SNAPSHOT_INCOMPLETE",
  "SNAPSHOT_NOT_FOUND",
  "STORE_FAILED",
  "STORE_CORRUPT",
  "CATALOG_FAILED",
  "QUERY_FAILED",
  "INTERRUPTED",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Values that may be logged: never a secret, a cookie, an e-mail address or a response body. */
export type ErrorFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** A retry of the same run can fix these, so they leave the run unfinished; every other code finishes it. */
export const RETRYABLE_CODES: readonly ErrorCode[] = [
  "SERVICE_UNAVAILABLE",
  "THROTTLED",
  "STORE_FAILED",
  "CATALOG_FAILED",
  "INTERRUPTED",
];

interface ErrorFacts {
  readonly fields?: ErrorFields;
  /** What a person does about it. */
  readonly next?: Advice | string | undefined;
  readonly cause?: unknown;
}

/** What a person has mistyped, or has to set up. */
const MISTAKES: ReadonlySet<ErrorCode> = new Set([
  "CONFIG_INVALID",
  "CREDENTIALS_INVALID",
  "SNAPSHOT_NOT_FOUND",
]);

export function isMistake(error: unknown): error is SyncError {
  return error instanceof SyncError && MISTAKES.has(error.code);
}

/** An error whose message says what failed and why, without a word of the place where it is read. Branch on `code`. */
export class SyncError extends Error {
  override readonly name = "SyncError";
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
  readonly next: Advice;

  constructor(code: ErrorCode, message: string, { fields = {}, next = [], cause }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.fields = fields;
    this.next = typeof next === "string" ? [next] : next;
  }

  get isRetryable(): boolean {
    return RETRYABLE_CODES.includes(this.code);
  }

  /** The same with more of each. */
  with({
    message = "",
    fields = {},
    next,
  }: Omit<ErrorFacts, "cause"> & { readonly message?: string }): SyncError {
    return new SyncError(this.code, `${this.message} ${message}`.trim(), {
      fields: { ...this.fields, ...fields },
      next: inOrder(this.next, next),
      cause: this.cause ?? this,
    });
  }
}

/** The code of an error of Node.js or of the system, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether an error says that a file of the warehouse is damaged. */
export function isDamage(error: unknown): error is SyncError {
  return error instanceof SyncError && error.code === "STORE_CORRUPT";
}

/** A handler for `catch`, which throws every error that is no damage. */
export function undefinedIfDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

/** The damage that ends the work; undefined where it ends well. Throws every other error. */
export async function damageIn(work: Promise<unknown>): Promise<SyncError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return error;
  }
}

/** Whether a login was refused: sending the same again could lock the account or only repeats the refusal. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "LOGIN_REFUSED",
  "ACCOUNT_DISABLED",
  "AUTHORIZATION_EXPIRED",
]);

export function isRefusedLogin(error: unknown): error is SyncError {
  return error instanceof SyncError && REFUSALS.has(error.code);
}

/** Whether the service refused the credentials, at a login or, with the method basic, at a request. */
export function isRefusal(error: SyncError | undefined): boolean {
  return error?.code === "UNAUTHENTICATED" || isRefusedLogin(error);
}

/** The remedy for files that a run can make again. */
export const MAKE_AGAIN = "Delete this file and start again.";
/** The remedy for files that readers have seen and no run can make again. */
export const RESTORE = "Restore it from a backup or an older version.";
/** The remedy for damaged files of what readers see. */
export const RESTART = advise`Or restart over the damage; then all events count as added: ${command("run", { decision: "overDamaged" })}.`;

/** `problem` never repeats the content. */
export function damaged(key: string, problem: string, remedy: string, cause?: unknown): SyncError {
  return new SyncError("STORE_CORRUPT", `The file ${key} is damaged: ${problem}.`, {
    fields: { key },
    next: remedy,
    cause,
  });
}

/** Adds to an error about a damaged file that a run may restart over it; any other error is returned as it is. */
export function addRestart(error: unknown): unknown {
  return isDamage(error) ? error.with({ next: RESTART }) : error;
}
