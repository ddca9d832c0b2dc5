// What the function can be asked, by the schedule, the console's Test button or another caller: for each action its input,
// what is done, and the answer.

import * as z from "zod";
import { check } from "../job/commands/check.ts";
import type { Check } from "../job/commands/check-service.ts";
import { acceptOrRollback, retire } from "../job/commands/decisions.ts";
import { diff } from "../job/commands/diff.ts";
import { DEFAULT_SAMPLE, discover } from "../job/commands/discover.ts";
import { status } from "../job/commands/status.ts";
import { SyncError } from "../job/errors/sync-error.ts";
import { isObject } from "../job/json/json-pointers.ts";
import { type Executions, parseExecutionName } from "../job/run/hand-over/executions.ts";
import { abandonRun } from "../job/run/hand-over/hand-over.ts";
import { nameOfExecution } from "../job/run/lease/lease-file.ts";
import { ChangeSample } from "../job/run/publish/preview.ts";
import { continueRun, type RunStart, run } from "../job/run/run.ts";
import type { HostPorts } from "../job/run/run-ports.ts";
import { PLAIN_ENGLISH, problemsOf } from "../job/settings/setting-problem.ts";
import { eventLimit, isPlaceholder, text, trueOrFalse, wholeNumber } from "../job/settings/values.ts";
import { formatRunId } from "../job/storage/layout.ts";
import { explained } from "../words/ends.ts";
import { say, sayError } from "../words/style.ts";
import type { Invocation } from "./function-ports.ts";
import { reportResult } from "./report-result.ts";
import { heldDecision, runResponse } from "./response.ts";
import { doubtInAws } from "./style-in-aws.ts";
import type { MetricValues } from "./telemetry.ts";

/** What was asked, with the account that it is about. */
interface Request {
  readonly request: { readonly action: string; readonly account: string };
  readonly respond: (invocation: Invocation) => Promise<object>;
}

/** `{}` is a run of the only account. Throws `CONFIG_INVALID` with what was expected and what came. */
export function parseRequest(event: unknown, accounts: readonly string[], nowMs: number): Request {
  if (!isObject(event) && event !== undefined)
    throw invalid(`expected a JSON object and got ${kindOf(event)}`);
  const { action = "run", ...input }: Record<string, unknown> = { ...event };
  const understand = ACTIONS.get(action);
  if (understand === undefined) {
    const names = [...ACTIONS.keys()];
    throw invalid(`action: expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
  }
  const { request, respond } = understand(input, accounts, nowMs);
  return { request: { action: String(action), ...request }, respond };
}

type Understand = (
  input: object,
  accounts: readonly string[],
  nowMs: number,
) => { readonly request: { readonly account: string }; readonly respond: Request["respond"] };

type Respond<Input> = (
  invocation: Invocation,
  request: Input & { readonly account: string },
) => Promise<object>;

/** @param refuse throws `CONFIG_INVALID` for values that do not go together */
function action<Input extends { readonly account?: string | undefined }>(
  schema: z.ZodType<Input>,
  respond: Respond<Input>,
  refuse: (request: Input & { readonly account: string }, nowMs: number) => void = () => undefined,
): Understand {
  return (input, accounts, nowMs) => {
    const parsed = schema.safeParse(input, PLAIN_ENGLISH);
    if (!parsed.success) {
      throw invalid(parsed.error.issues.flatMap(describe).join("; "));
    }
    const request = { ...parsed.data, account: accountOf(parsed.data.account, accounts) };
    refuse(request, nowMs);
    return { request, respond: (invocation) => respond(invocation, request) };
  };
}

/** An action that sends requests to the service. */
const online: typeof action = (schema, respond, refuse) =>
  action(
    schema,
    async (invocation, request) => {
      refusePlaceholder(invocation);
      return respond(invocation, request);
    },
    refuse,
  );

const account = z.string("expected the name of an account").optional();
const snapshotId = z.string("expected the id of a snapshot, such as 2026-11-21T06-00-00.000Z");
const overDamaged = trueOrFalse.optional();
const executionArn = text(
  "expected the ARN of an execution that a run was handed over to",
  (value) => parseExecutionName(nameOfExecution(value)) !== undefined,
);

const runInput = z.strictObject({
  account,
  /** Fetches, checks and compares; publishes nothing. */
  dryRun: trueOrFalse.default(false),
  /** Fetches at most so many events; with `dryRun` only. */
  limit: eventLimit.optional(),
  /** Starts a new run instead of resuming an unfinished one. */
  fresh: trueOrFalse.default(false),
  /** A restart: publishes although files that readers see are damaged, and all events count as added. */
  overDamaged,
  /** The instant that the schedule stands for. Names the run, so the same trigger twice is the same run. */
  scheduledAt: z.iso
    .datetime({ offset: true, error: "expected an instant such as 2026-11-21T06:00:00Z" })
    .optional(),
});

/** Of each kind: the response must stay far below what Lambda returns. */
const MOST_UUIDS = 100;

const ACTIONS = new Map<unknown, Understand>(
  Object.entries({
    run: online(
      runInput,
      async (invocation, request) =>
        runResponse(invocation, await run(invocation.host, invocation.settings, startOf(request))),
      refuseStart,
    ),
    check: online(z.strictObject({ account }), async (invocation, { account }) => {
      const { ports, host, settings, style } = invocation;
      let doubted = {};
      const checks = await check(host, settings, {
        onEstimate: (found) => host.logger.info(say(found, style)),
        onDoubt: (doubt, found) => {
          doubted = doubtInAws(doubt, invocation, { found });
        },
      });
      ports.metrics(account, checkMetrics(checks));
      const told = checks.map(({ remedy, ...one }) => ({ ...one, remedy: remedy && say(remedy, style) }));
      return { account, ok: checks.every(({ ok }) => ok), checks: told, ...doubted };
    }),
    discover: online(
      z.strictObject({ account, limit: eventLimit.default(DEFAULT_SAMPLE) }),
      async ({ host, settings, style }, { account, limit }) => {
        const found = await discover(host, settings, limit);
        if ("outcome" in found) {
          const { next: _, ...end } = found;
          return { account, ...end, explanation: explained(found, style) };
        }
        const { listed, events, fields, duplicateKeys: duplicate_keys, suggestions, doubt } = found;
        const said = doubtInAws(doubt, { style, settings });
        return { account, listed, events, fields, duplicate_keys, suggestions, ...said };
      },
    ),
    status: action(z.strictObject({ account }), async ({ ports, host, settings, style }) => {
      const found = await status(host.store, ports.clock.now());
      const isPinned = found.head?.pinned === true;
      const held = found.held.map((one) => ({
        ...one,
        explanation: explained({ ...one, hold: one.facts }, style),
        ...heldDecision(style, found.account, { ...one, isPinned }),
      }));
      const { doubt, next, ...others } = found;
      const advised = next.length === 0 ? {} : { next: say(next, style) };
      return { ...others, held, ...advised, ...doubtInAws(doubt, { style, settings }) };
    }),
    /** Compares a snapshot with the one that readers see. */
    diff: action(z.strictObject({ account, snapshotId }), async ({ host }, { account, snapshotId }) => {
      const sample = new ChangeSample(MOST_UUIDS);
      const found = await diff(host, { a: snapshotId, b: undefined }, (change) => sample.add(change));
      return { account, ...found, ...sample.counts, uuids: sample.uuids };
    }),
    accept: action(
      z.strictObject({ account, snapshotId, force: trueOrFalse.default(false), overDamaged }),
      async (invocation, request) =>
        runResponse(invocation, await acceptOrRollback(invocation.host, { ...request, action: "accept" })),
    ),
    rollback: action(
      z.strictObject({ account, snapshotId, pin: trueOrFalse.default(true), overDamaged }),
      async (invocation, request) =>
        runResponse(invocation, await acceptOrRollback(invocation.host, { ...request, action: "rollback" })),
    ),
    retire: action(
      z.strictObject({ account, snapshotId, yes: trueOrFalse.default(false) }),
      async ({ host }, request) => {
        const { account, snapshotId } = request;
        const retired = await retire(host, request);
        // The event to paste.
        const retire_event = { action: "retire", account, snapshotId, yes: true };
        return { account, ...retired, ...(retired.ok ? {} : { retire_event }) };
      },
    ),
    /** From the state machine: one turn of an execution. Throws the error of a run that failed. */
    continue: online(
      z.strictObject({
        account,
        runId: z.string("expected the id of a run, such as 2026-11-21T06-00-00.000Z"),
        executionArn,
        turn: wholeNumber(0, 1e9),
      }),
      async (invocation, { runId, executionArn: execution, turn }) => {
        const { ports, host, settings } = invocation;
        ownExecutions(host, execution);
        const { maxTurns } = ports.environment;
        const end = await continueRun(host, settings, { runId, execution, turn, maxTurns });
        const { result, isDone, waitSeconds } = end;
        await reportResult(result, invocation);
        // A run that is finished is done, however it ended: the turn that finished it has thrown its error. The state
        // machine tells from the error's name whether a retry may fix it.
        if (result.error && !result.isRepeat) throw result.error;
        // Contract: the definition of the state machine reads these. With 0 seconds the next turn follows at once.
        return { done: isDone, waitSeconds, turn: turn + 1 };
      },
      ({ account, runId, executionArn }) => {
        const named = parseExecutionName(nameOfExecution(executionArn));
        if (named?.account === account && named.runId === runId) return;
        throw invalid("executionArn: it names another account or another run than the input does");
      },
    ),
    /**
     * From the rule on executions that have ended without success; the name of the execution says the rest. The failure
     * is reported, which raises the alarm, unless that was done before or the execution works after all.
     */
    abandon: action(
      z.strictObject({ executionArn }).transform((input) => {
        const named = parseExecutionName(nameOfExecution(input.executionArn));
        return { ...input, account: named?.account };
      }),
      async ({ ports, host, settings, style }, { account, executionArn: execution }) => {
        const { executions, name, runId } = ownExecutions(host, execution);
        host.onRunId?.(runId);
        const abandonment = await abandonRun(host, executions, settings, { runId, execution });
        if ("explanation" in abandonment) {
          ports.logger.info(abandonment.explanation);
          return { abandoned: false, ...abandonment, account, run_id: runId };
        }
        const { row, error } = abandonment.result;
        const explanation = error && sayError(error, style);
        ports.logger.error(explanation ?? `the execution ${name} has ended`, { error_code: row.error_code });
        return { abandoned: true, explanation, account, run_id: runId };
      },
    ),
  }),
);

/**
 * The schedule's instant names its run, so Lambda's retries and a second delivery are the same run. Those of a start by
 * hand find its run by the id of the request, which the lease keeps, and resume one that is unfinished.
 */
function startOf({ scheduledAt, dryRun, limit, account: _, ...told }: z.output<typeof runInput>): RunStart {
  if (scheduledAt !== undefined) {
    return { trigger: "schedule", runId: formatRunId(Date.parse(scheduledAt)) };
  }
  return { trigger: "manual", ...told, ...(dryRun ? { dryRun: { limit } } : {}) };
}

/** How far the clock of the schedule may be ahead of the function's. */
const MAX_AHEAD_MS = 5 * 60_000;

function refuseStart(request: z.output<typeof runInput>, nowMs: number): void {
  const { dryRun, limit, fresh, overDamaged, scheduledAt } = request;
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
    // The run's snapshot would stay the latest for readers until that instant.
    throw invalid(`scheduledAt: ${scheduledAt} lies in the future; leave it out to start a run now`);
  }
}

/** Throws `CONFIG_INVALID` for the address that `cdk.json` is delivered with. */
function refusePlaceholder({ host, settings: { baseUrl } }: Invocation): void {
  if (!isPlaceholder(baseUrl)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The address of the service is still the placeholder ${baseUrl}. Set eventSync.baseUrl in cdk.json, or baseUrl of the account ${host.store.account}, to the address of your service, and deploy the stack again.`,
    { fields: { setting: "baseUrl" } },
  );
}

interface OwnExecutions {
  readonly executions: Executions;
  /** The name of the execution that was asked for. */
  readonly name: string;
  readonly runId: string;
}

/** Throws `CONFIG_INVALID` where there is no state machine, or where the execution is another one's. */
function ownExecutions({ executions }: HostPorts, arn: string): OwnExecutions {
  const name = nameOfExecution(arn);
  const runId = parseExecutionName(name)?.runId;
  if (runId !== undefined && executions?.arnOf(name) === arn) return { executions, name, runId };
  throw new SyncError(
    "CONFIG_INVALID",
    `The execution ${name} is not one of this deployment's state machine. Only the state machine itself sends this input.`,
    { fields: { setting: "executionArn" } },
  );
}

/** A check clears alarms and raises none: the person who started it reads its result. */
export function checkMetrics(checks: readonly Check[]): MetricValues {
  const works = (name: Check["name"]): boolean => checks.some((check) => check.name === name && check.ok);
  return {
    ...(works("list") ? { LoginRefused: 0 } : {}),
    ...(works("catalog") ? { CatalogBehind: 0 } : {}),
  };
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

function describe(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "unrecognized_keys") return [`${issue.keys.join(", ")}: not known for this action`];
  return problemsOf([issue], (path) => path.join("."));
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `The function's input is not usable: ${problem}.`);
}
