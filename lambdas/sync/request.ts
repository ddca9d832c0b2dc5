// The function's input: from the schedule, the console's Test button, or another caller.

import * as z from "zod";
import { SyncError } from "../job/errors/sync-error.ts";
import { DEFAULT_SAMPLE } from "../job/run/discover.ts";
import { nameOfExecution, parseExecutionName } from "../job/run/hand-over/executions.ts";
import { DEFAULT_VERIFIED, sampleSize } from "../job/run/verify/verify.ts";
import { plainEnglish, problemsOf } from "../job/settings/setting-problem.ts";
import { eventLimit, text, trueOrFalse, wholeNumber } from "../job/settings/values.ts";

/** How far the clock of the schedule may be ahead of the function's. */
const MAX_AHEAD_MS = 5 * 60_000;

const account = z.string("expected the name of an account").optional();
const snapshotId = z.string("expected the id of a snapshot, such as 2026-11-21T06-00-00.000Z");
const executionArn = text(
  "expected the ARN of an execution that a run was handed over to",
  (value) => parseExecutionName(nameOfExecution(value)) !== undefined,
);
const instant = z.iso.datetime({ offset: true, error: "expected an instant such as 2026-11-21T06:00:00Z" });

const schema = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("run"),
    account,
    /** Fetches, checks and compares; publishes nothing. */
    dryRun: trueOrFalse.default(false),
    /** Fetches at most so many events; with `dryRun` only. */
    limit: eventLimit.optional(),
    /** Starts a new run instead of resuming an unfinished one. */
    fresh: trueOrFalse.default(false),
    /** Publishes although files of the snapshot that readers see are damaged. */
    overDamaged: trueOrFalse.optional(),
    /** The instant that the schedule stands for. Names the run, so the same trigger twice is the same run. */
    scheduledAt: instant.optional(),
  }),
  z.strictObject({ action: z.literal("check"), account }),
  z.strictObject({ action: z.literal("discover"), account, limit: eventLimit.default(DEFAULT_SAMPLE) }),
  z.strictObject({ action: z.literal("verify"), account, sample: sampleSize.default(DEFAULT_VERIFIED) }),
  z.strictObject({ action: z.literal("status"), account }),
  /** Compares a snapshot with the one that readers see. */
  z.strictObject({ action: z.literal("diff"), account, snapshotId }),
  z.strictObject({
    action: z.literal("accept"),
    account,
    snapshotId,
    force: trueOrFalse.default(false),
    overDamaged: trueOrFalse.optional(),
  }),
  z.strictObject({
    action: z.literal("rollback"),
    account,
    snapshotId,
    pin: trueOrFalse.default(true),
    overDamaged: trueOrFalse.optional(),
  }),
  z.strictObject({ action: z.literal("retire"), account, snapshotId, yes: trueOrFalse.default(false) }),
  /** From the state machine: one turn of an execution. */
  z.strictObject({
    action: z.literal("continue"),
    account,
    runId: z.string("expected the id of a run, such as 2026-11-21T06-00-00.000Z"),
    executionArn,
    turn: wholeNumber(0, 1e9),
  }),
  /** From the rule on executions that have ended without success; the name of the execution says the rest. */
  z.strictObject({ action: z.literal("abandon"), executionArn }),
]);

export type SyncRequest = Readonly<z.output<typeof schema>> & { readonly account: string };
export type RunRequest = Extract<SyncRequest, { readonly action: "run" }>;
export type RetireRequest = Extract<SyncRequest, { readonly action: "retire" }>;
export type ContinueRequest = Extract<SyncRequest, { readonly action: "continue" }>;
export type AbandonRequest = Extract<SyncRequest, { readonly action: "abandon" }>;

/** `{}` is a run of the only account. Throws `CONFIG_INVALID` with what was expected and what came. */
export function parseRequest(event: unknown, accounts: readonly string[], nowMs: number): SyncRequest {
  const isObject = typeof event === "object" && event !== null && !Array.isArray(event);
  if (!isObject && event !== undefined) throw invalid(`expected a JSON object and got ${kindOf(event)}`);
  const given = { action: "run", ...event };
  const parsed = schema.safeParse(given, { error: plainEnglish });
  if (!parsed.success)
    throw invalid(parsed.error.issues.flatMap((issue) => describe(issue, given)).join("; "));
  const { data } = parsed;
  const named = data.action === "abandon" ? accountNamedBy(data.executionArn) : data.account;
  const request = { ...data, account: accountOf(named, accounts) };
  if (request.action === "run") checkRun(request, nowMs);
  if (request.action === "continue") checkContinue(request);
  return request;
}

function accountNamedBy(arn: string): string | undefined {
  return parseExecutionName(nameOfExecution(arn))?.account;
}

function checkContinue({ account: given, runId, executionArn: arn }: ContinueRequest): void {
  const named = parseExecutionName(nameOfExecution(arn));
  if (named?.account === given && named.runId === runId) return;
  throw invalid("executionArn: it names another account or another run than the input does");
}

function accountOf(given: string | undefined, accounts: readonly string[]): string {
  const known = accounts.join(", ");
  if (given !== undefined) {
    if (accounts.includes(given)) return given;
    throw invalid(`account: ${JSON.stringify(given)} is not one of this deployment's accounts (${known})`);
  }
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0) return only;
  throw invalid(
    `account: this deployment has several (${known}), so say which, for example {"account": "${only}"}`,
  );
}

function checkRun({ dryRun, limit, fresh, overDamaged, scheduledAt }: RunRequest, nowMs: number): void {
  if (limit !== undefined && !dryRun) {
    throw invalid("limit: needs dryRun, because a published snapshot is never partial");
  }
  if (scheduledAt === undefined) return;
  if (dryRun || fresh || overDamaged) {
    throw invalid(
      "scheduledAt: names a run of the schedule, so it cannot be used with dryRun, fresh or overDamaged",
    );
  }
  if (Date.parse(scheduledAt) > nowMs + MAX_AHEAD_MS) {
    // Its snapshot would stay the latest for readers until that instant.
    throw invalid(`scheduledAt: ${scheduledAt} lies in the future; leave it out to start a run now`);
  }
}

function describe(issue: z.core.$ZodIssue, given: object): readonly string[] {
  if (issue.code === "unrecognized_keys") return [`${issue.keys.join(", ")}: not known for this action`];
  if (issue.path.join(".") === "action") {
    return [
      "action: expected run, check, discover, verify, status, diff, accept, rollback, retire, continue or abandon",
    ];
  }
  return problemsOf([issue], given, (path) => path.join("."));
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `The function's input is not usable: ${problem}.`);
}
