// One invocation: parses the request, does it, reports the result.

import type { Context } from "aws-lambda";
import { type ErrorCode, SyncError } from "../job/errors/sync-error.ts";
import { acceptOrRollback } from "../job/run/accept-or-rollback.ts";
import { type Check, check } from "../job/run/check.ts";
import { type Discovery, discover } from "../job/run/discover.ts";
import { abandonRun } from "../job/run/hand-over/abandon-run.ts";
import { type Executions, nameOfExecution, parseExecutionName } from "../job/run/hand-over/executions.ts";
import type { Skipped } from "../job/run/lease/lease.ts";
import { startedEvent } from "../job/run/record/run-event.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import { type Retired, retire } from "../job/run/retire.ts";
import { continueRun, type RunStart, run } from "../job/run/run.ts";
import type { RunPorts } from "../job/run/run-ports.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { status } from "../job/run/status.ts";
import { verify } from "../job/run/verify/verify.ts";
import { isPlaceholder } from "../job/settings/addresses.ts";
import { formatRunId } from "../job/storage/layout.ts";
import { accountRunSettings } from "./environment.ts";
import { type FunctionLog, type FunctionPorts, functionRunPorts, timeLimit } from "./function-ports.ts";
import { checkMetrics, isRefusal, reportResult, reportUnexpected, tell } from "./report-result.ts";
import {
  type AbandonRequest,
  type ContinueRequest,
  parseRequest,
  type RetireRequest,
  type RunRequest,
  type SyncRequest,
} from "./request.ts";
import {
  consoleLinks,
  diffResponse,
  heldInvocations,
  responseOf,
  statusResponse,
  verifyResponse,
} from "./response.ts";

const SENDS_REQUESTS: ReadonlySet<SyncRequest["action"]> = new Set([
  "run",
  "continue",
  "check",
  "discover",
  "verify",
]);

/**
 * Throws `InvocationError` for a run that failed and for everything else that did not work.
 * @param compose makes what the invocation works with; it may throw as well.
 */
export async function handleRequest(
  compose: () => FunctionPorts,
  log: FunctionLog,
  event: unknown,
  context: Context,
): Promise<object> {
  const start: { account?: string; run_id?: string } = {};
  const about = (fields: typeof start): void => {
    Object.assign(start, fields);
    log.about(fields);
  };
  let ports: FunctionPorts | undefined;
  log.begin(context);
  try {
    ports = compose();
    const request = parseRequest(event, Object.keys(ports.environment.accounts), ports.clock.now());
    about({ account: request.account });
    return await respond(ports, request, context, (run_id) => about({ run_id }));
  } catch (error) {
    if (error instanceof SyncError) {
      log.error(error.message, { error_code: error.code, ...error.fields });
    } else if (ports && start.account !== undefined) {
      await reportUnexpected(ports, start.account, start.run_id ?? null, error);
    }
    throw invocationError(error, start);
  }
}

async function respond(
  ports: FunctionPorts,
  request: SyncRequest,
  context: Context,
  onRunId: (runId: string) => void,
): Promise<object> {
  const { environment, clock } = ports;
  const { account } = request;
  const accountSettings = environment.accounts[account];
  if (accountSettings === undefined) throw new Error("the request names an unknown account");
  const settings = accountRunSettings(account, accountSettings, environment);
  if (SENDS_REQUESTS.has(request.action)) refusePlaceholder(settings);
  using limit = timeLimit(context);
  const { awsRequestId } = context;
  const host: RunPorts = {
    ...functionRunPorts(ports, accountSettings, settings, limit, awsRequestId),
    onRunId,
    onStarted: (started) => tell(ports, account, async () => startedEvent(account, started)),
    onAbandoned: async (result) => {
      await reportResult(result, { ports, account, settings });
    },
  };

  const commandsOf = (snapshotId: string) => heldInvocations(environment, account, snapshotId);
  const respondWith = async (result: RunResult): Promise<object> => {
    const publication = await reportResult(result, { ports, account, settings });
    if (isRepeatedRefusal(result)) return repeatedRefusalResponse(result, account);
    if (result.error) throw result.error;
    const { region, workgroup, database } = environment;
    const execution = result.handedOver?.execution;
    const links = consoleLinks({ region, workgroup, context, execution });
    return responseOf(result, { account, database, links, publication, commandsOf });
  };
  switch (request.action) {
    case "run":
      return respondWith(await run(host, settings, startOf(request)));
    // Awaited: the time limit ends with this block.
    case "continue":
      return await continueResponse({ ports, host, settings }, request);
    case "abandon":
      return await abandonResponse({ ports, host, settings }, request);
    case "accept":
    case "rollback":
      return respondWith(await acceptOrRollback(host, request));
    case "retire":
      return retireResponse(await retire(host, request), request);
    case "check":
      return checkResponse(
        ports,
        account,
        await check(host, settings, { onEstimate: (text) => host.logger.info(text) }),
      );
    case "discover":
      return discoverResponse(await discover(host, settings, request.limit), account);
    case "verify":
      return verifyResponse(ports, account, await verify(host, settings, request.sample));
    case "diff":
      return await diffResponse(host, account, request.snapshotId);
    case "status":
      return statusResponse(await status(host.store, clock.now()), commandsOf);
  }
}

/**
 * Lambda's own retry of a start whose login was refused. If it failed too, the start would end in the failure queue and
 * raise a second alarm for one cause.
 */
function isRepeatedRefusal({ row, error, isRepeat }: RunResult): boolean {
  return isRepeat === true && row.trigger === "schedule" && isRefusal(error);
}

function repeatedRefusalResponse({ row, error }: RunResult, account: string): object {
  const { run_id } = row;
  return { outcome: "SKIPPED", reason: "LOGIN_REFUSED", explanation: error?.message, account, run_id };
}

function checkResponse(ports: FunctionPorts, account: string, checks: readonly Check[]): object {
  ports.metrics(account, checkMetrics(checks));
  return { account, ok: checks.every(({ ok }) => ok), checks };
}

/** Without `yes` with the event to paste. */
function retireResponse(retired: Retired, { account, action, snapshotId }: RetireRequest): object {
  if (retired.ok) return { account, ...retired };
  return { account, ...retired, retire_event: { action, account, snapshotId, yes: true } };
}

function discoverResponse(found: Discovery | Skipped, account: string): object {
  if ("outcome" in found) return { account, ...found };
  const { listed, events, fields, suggestions } = found;
  return { account, listed, events, fields, suggestions };
}

/**
 * The schedule's instant names its run, so Lambda's retries and a second delivery are the same run. A manual start has
 * no instant that its retry would share: the retry resumes the unfinished run of the attempt before. After a manual
 * `--invocation-type Event` whose run failed for good, each of Lambda's two retries makes a new run; only a refused
 * login is not sent again.
 */
function startOf({ scheduledAt, dryRun, limit, fresh, overDamaged }: RunRequest): RunStart {
  if (scheduledAt !== undefined) {
    return { trigger: "schedule", runId: formatRunId(Date.parse(scheduledAt)) };
  }
  return {
    trigger: "manual",
    fresh,
    ...(overDamaged ? { overDamaged } : {}),
    ...(dryRun ? { dryRun: { limit } } : {}),
  };
}

/** Its `name` is the code: log filters and callers tell failures apart by it. */
class InvocationError extends Error {
  override readonly name: ErrorCode | "UNEXPECTED";

  constructor(name: ErrorCode | "UNEXPECTED", message: string) {
    super(message);
    this.name = name;
  }
}

interface FailedStart {
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

/** Throws `CONFIG_INVALID` for the address that `cdk.json` is delivered with. */
function refusePlaceholder({ account, baseUrl }: RunSettings): void {
  if (!isPlaceholder(baseUrl)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The address of the service is still the placeholder ${baseUrl}. Set eventSync.baseUrl in cdk.json, or baseUrl of the account ${account}, to the address of your service, and deploy the stack again.`,
    { fields: { setting: "baseUrl" } },
  );
}

interface HandOverTask {
  readonly ports: FunctionPorts;
  /** Those of a run in this invocation. */
  readonly host: RunPorts;
  readonly settings: RunSettings;
}

interface OwnExecutions {
  readonly executions: Executions;
  /** Of the execution that was asked for. */
  readonly name: string;
  readonly runId: string;
}

/** Throws `CONFIG_INVALID` where there is no state machine, or where the execution is another one's. */
function ownExecutions({ executions }: RunPorts, arn: string): OwnExecutions {
  const name = nameOfExecution(arn);
  const runId = parseExecutionName(name)?.runId;
  if (runId !== undefined && executions?.arnOf(name) === arn) return { executions, name, runId };
  throw new SyncError(
    "CONFIG_INVALID",
    `The execution ${name} is not one of this deployment's state machine. Only the state machine itself sends this input.`,
    { fields: { setting: "executionArn" } },
  );
}

/** Contract: the definition of the state machine reads these. */
interface ContinueResponse {
  readonly done: boolean;
  /** 0 where the next turn should follow at once. */
  readonly waitSeconds: number;
  /** How many turns are over now. */
  readonly turn: number;
}

/** Throws the error of a run that failed. The state machine tells from its name whether a retry may fix it. */
async function continueResponse(
  { ports, host, settings }: HandOverTask,
  { account, runId, executionArn, turn }: ContinueRequest,
): Promise<ContinueResponse> {
  ownExecutions(host, executionArn);
  const { maxTurns } = ports.environment;
  const end = await continueRun(host, settings, { runId, execution: executionArn, turn, maxTurns });
  const { result, isDone, waitSeconds } = end;
  await reportResult(result, { ports, account, settings });
  // A run that is finished is done, however it ended: the turn that finished it has thrown its error.
  if (result.error && !result.isRepeat) throw result.error;
  return { done: isDone, waitSeconds, turn: turn + 1 };
}

/** The failure is reported, which raises the alarm, unless that was done before or the execution works after all. */
async function abandonResponse(
  { ports, host, settings }: HandOverTask,
  { account, executionArn }: AbandonRequest,
): Promise<object> {
  const { executions, name, runId } = ownExecutions(host, executionArn);
  host.onRunId?.(runId);
  const abandonment = await abandonRun(host, executions, settings, { runId, execution: executionArn });
  if ("explanation" in abandonment) {
    ports.log.info(abandonment.explanation);
    return { abandoned: false, ...abandonment, account, run_id: runId };
  }
  const { result } = abandonment;
  const explanation = result.error?.message;
  ports.log.error(explanation ?? `the execution ${name} has ended`, { error_code: result.row.error_code });
  return { abandoned: true, explanation, account, run_id: runId };
}
