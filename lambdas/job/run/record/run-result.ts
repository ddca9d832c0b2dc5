// How an attempt ended, and the file that says how a finished run did. That file is the run's last write: a start that
// finds it sends no request.

import * as z from "zod";
import { CredentialsNotSetUp } from "../../credentials/credentials.ts";
import { type Advice, adviceSchema } from "../../errors/advice.ts";
import { ERROR_CODES, type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import { doubtSchema } from "../../snapshot/files/manifest.ts";
import type { ChangedRow } from "../../snapshot/rows/first-changes.ts";
import type { Publication } from "../../storage/publication.ts";
import { findPublication, isOfRun } from "../../storage/publication-log.ts";
import { type AccountStore, readJson, writeJsonOnce } from "../../storage/store.ts";
import { type HoldFacts, holdFactsSchema, type Preview, previewSchema } from "./held-mark.ts";
import { isRun, type Outcome, type RunLogEntry, runLogEntrySchema } from "./run-log.ts";

/** How an attempt ended without an error. */
export interface RunEnd {
  readonly outcome: Exclude<Outcome, "FAILED">;
  readonly reason: string | null;
  /** For a person: why it was held, skipped or handed over. */
  readonly explanation?: string | undefined;
  /** What a person does about it. */
  readonly next?: Advice | undefined;
  /** Why the snapshot is held, or would be. */
  readonly hold?: HoldFacts | undefined;
  /** What publishing the snapshot would do; only where the outcome is `HELD`. */
  readonly preview?: Preview | undefined;
  /** The first values of each column of one's own; only of a dry run. */
  readonly columns?: readonly {
    readonly name: string;
    readonly pointer: string;
    readonly values: readonly string[];
  }[];
  /** The first events that differ from what readers see; only of a dry run, where there is something. */
  readonly differing?: readonly ChangedRow[];
  /** Present exactly when the outcome is `HANDED_OVER`. */
  readonly handedOver?: {
    /** The ARN of the execution that continues the run. */
    readonly execution: string;
    /** How long the budget gives nothing useful, in milliseconds. */
    readonly waitMs: number;
  };
}

export interface RunFailure {
  readonly error: unknown;
}

/** A start that ends without a snapshot, and leaves what there is to another one. */
export interface Skipped {
  readonly outcome: "SKIPPED";
  readonly reason: "LEASE_TAKEN" | "LEASE_LOST" | "LOGIN_REFUSED" | "OTHER_VERSION";
  readonly explanation: string;
  readonly next?: Advice | undefined;
}

/** What is said of a run with the reason `OTHER_VERSION`: no later start can finish it. */
export const OTHER_VERSION_TEXT =
  "was begun by another version of this program, so its staged work cannot be continued";

/** Ends a start that does not fail. It is thrown, or it is the reason of a signal. */
export class StartSkipped extends Error {
  override readonly name = "StartSkipped";
  readonly end: Skipped;

  constructor(reason: Skipped["reason"], explanation: string, next: Advice = []) {
    super(explanation);
    this.end = { outcome: "SKIPPED", reason, explanation, next };
  }
}

/** What an error means for the start that it has ended: not every one is a failure. */
export function endOf(error: unknown): RunEnd | RunFailure {
  if (error instanceof StartSkipped) return error.end;
  if (error instanceof CredentialsNotSetUp)
    return { outcome: "SKIPPED", reason: "NOT_SET_UP", explanation: error.message, next: error.next };
  return { error };
}

/** What a start of a run returns: its end, as it is recorded. `error` is present exactly when the outcome is `FAILED`. */
export interface RunResult extends Omit<RunEnd, "outcome" | "reason"> {
  readonly row: RunLogEntry;
  readonly error?: SyncError | undefined;
  /** Why the list may be a part only. */
  readonly doubt?: z.infer<typeof doubtSchema> | undefined;
  /** True where the run was finished before this start, which did nothing. */
  readonly isRepeat?: true;
  /** True where an execution ended without its run: a later start resumes the run, whatever the error. */
  readonly isAbandoned?: true;
  /** True for a turn of an execution, which repeats a turn that failed, and tells the function when it gives up. */
  readonly isTurn?: true;
}

const fieldsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string()).readonly()]),
);

const outcomeSchema = z.object({
  row: runLogEntrySchema,
  explanation: z.string().optional(),
  preview: previewSchema.optional().catch(undefined),
  doubt: doubtSchema.optional().catch(undefined),
  /** Absent in files of earlier versions, whose texts have all that was known. One of a later version is left aside. */
  facts: z
    .object({
      fields: fieldsSchema.optional(),
      next: adviceSchema.optional(),
      hold: holdFactsSchema.optional(),
    })
    .optional()
    .catch(undefined),
});

/** The result of a run that is finished; undefined while it is not. Throws `STORE_CORRUPT`. */
export async function readRunResult(store: AccountStore, runId: string): Promise<RunResult | undefined> {
  const recorded = await readJson(store, store.keys.outcome(runId), outcomeSchema);
  if (recorded === undefined) return undefined;
  const { facts = {}, ...result } = recorded;
  const { error_code: code, error_message: message } = recorded.row;
  return {
    ...result,
    next: facts.next,
    hold: facts.hold,
    error:
      code === null
        ? undefined
        : new SyncError(knownCode(code), message ?? code, { fields: facts.fields ?? {}, next: facts.next }),
  };
}

/** Another version may have written one that this one does not know: it is final, as its outcome is. */
function knownCode(code: string): ErrorCode {
  return ERROR_CODES.find((each) => each === code) ?? "SNAPSHOT_INCOMPLETE";
}

/**
 * Returns the result that stands: another process may have finished the run while this one was stopped for a while.
 * Throws `STORE_CORRUPT`.
 */
export async function writeRunResult(store: AccountStore, result: RunResult): Promise<RunResult> {
  const { row, explanation, preview, doubt, error } = result;
  const key = store.keys.outcome(row.run_id);
  const facts = { fields: error?.fields, next: error?.next ?? result.next, hold: result.hold };
  const isOurs = await writeJsonOnce(store, key, { row, explanation, preview, doubt, facts });
  const standing = isOurs ? undefined : await readRunResult(store, row.run_id);
  // A write whose response was lost finds its own.
  if (standing === undefined || standing.row.attempt === row.attempt) return result;
  return { ...standing, isRepeat: true };
}

/** Undefined where nothing was published. */
export async function publicationOf(
  store: AccountStore,
  { outcome, trigger, run_id: runId }: RunLogEntry,
): Promise<Publication | undefined> {
  if (outcome !== "PUBLISHED") return undefined;
  return findPublication(store, isRun(trigger) ? isOfRun(runId) : ({ run_id }) => run_id === runId);
}

/** For work that a run can do without: a `SyncError` of it is a warning, and so is that another process has the lease. */
export async function orWarn(logger: Logger, what: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StartSkipped) return logger.warn(`${what}: ${error.message}`);
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`${what}: ${error.message}`, { error_code: error.code });
  }
}
