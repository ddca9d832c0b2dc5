// An execution ended without its run: the lease is freed and the failure recorded, so that the next start resumes the run.

import * as z from "zod";
import { ERROR_CODES, SyncError } from "../../errors/sync-error.ts";
import { plannedTrigger } from "../../snapshot/staging/plan.ts";
import { freeLease, readExecutionLease } from "../lease/lease-account.ts";
import { beginAttempt, rowOf } from "../record/attempt.ts";
import { appendRunLog } from "../record/run-log.ts";
import { type RunResult, readRunResult } from "../record/run-result.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { type ExecutionState, type Executions, nameOfExecution, parseExecutionName } from "./executions.ts";

interface Abandoned {
  readonly runId: string;
  /** The ARN of the execution that is said to have ended. */
  readonly execution: string;
}

type EndState = Extract<ExecutionState, { readonly kind: "ended" }>;

/** The recorded failure, or why nothing was done. */
type Abandonment = { readonly result: RunResult } | { readonly explanation: string };

/**
 * Does nothing where the execution has not ended, or no longer has the lease: the event about it may be late, or be
 * delivered twice. The lease is freed last, so a repetition completes what a process that died has begun.
 */
export async function abandonRun(
  ports: Pick<RunPorts, "store" | "clock" | "logger" | "version" | "onAbandoned">,
  executions: Executions,
  settings: RunSettings,
  { runId, execution }: Abandoned,
): Promise<Abandonment> {
  const name = nameOfExecution(execution);
  let result: RunResult | undefined;
  for (;;) {
    // Read first: a turn of an execution that is started again writes the lease, which then is not freed.
    const own = await readExecutionLease(ports.store, execution);
    const state = await executions.describe(execution);
    if (state.kind !== "ended") return { explanation: `The execution ${name} has not ended.` };
    if (state.status === "SUCCEEDED") return { explanation: `The execution ${name} has succeeded.` };
    if (own === undefined) {
      return { explanation: `The execution ${name} does not have the lease of the account any more.` };
    }
    const isFinished = (await readRunResult(ports.store, runId)) !== undefined;
    if (!isFinished && result === undefined) {
      result = await record(ports, runId, errorOf(state, name), state.endedAtMs);
      await ports.onAbandoned?.(result);
    }
    if (!(await freeLease(ports, settings, own))) continue;
    if (result) return { result };
    return { explanation: `The run ${runId} was finished before the execution ${name} ended.` };
  }
}

/** Its beginning is the instant of its end, so several processes that find it write one line. */
async function record(
  ports: Pick<RunPorts, "store" | "clock" | "version">,
  runId: string,
  error: SyncError,
  endedAtMs: number | undefined,
): Promise<RunResult> {
  const { store, clock } = ports;
  const begun = beginAttempt(clock, await plannedTrigger(store, store.keys.plan(runId)), runId);
  const attempt = { ...begun, startedAtMs: endedAtMs ?? begun.startedAtMs };
  const row = await appendRunLog(store, rowOf(ports, attempt, { error }), true);
  return { row, error, isAbandoned: true };
}

const ownCode = z.enum(ERROR_CODES);
/** What Lambda reports of an error that the function has thrown. */
const ownCause = z.object({ errorMessage: z.string() });

/** The error that the function threw last, if that ended the execution. */
function errorOf({ status, error, cause }: EndState, name: string): SyncError {
  const code = ownCode.safeParse(error).data;
  const message = code && ownCause.safeParse(parsed(cause)).data?.errorMessage;
  if (code !== undefined && message !== undefined) {
    return new SyncError(code, `${message} The execution ${name} has ended with this error. ${REMEDY}`);
  }
  const why = error !== undefined && /^[\w.]{1,80}$/.test(error) ? ` (${error})` : "";
  return new SyncError("INTERRUPTED", `The execution ${name} has ended as ${status}${why}. ${REMEDY}`);
}

const REMEDY =
  "What is staged is kept: once the cause is gone, redrive the execution in the console of Step Functions, or start a run.";

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * For a start that finds the lease of an execution. `free` where the execution works no more; its failure is then recorded, unless the event about it came first. One that
 * is absent was never started, because the process that handed its run over died too early: it is started now, which
 * changes nothing if another process does the same.
 * @param mayTakeOver false for a turn of another execution, which never takes the lease of this one
 */
export async function askExecution(
  ports: RunPorts,
  executions: Executions,
  settings: RunSettings,
  arn: string,
  mayTakeOver: boolean,
): Promise<"taken" | "free"> {
  const { logger } = ports;
  const name = nameOfExecution(arn);
  const named = parseExecutionName(name);
  if (named === undefined || executions.arnOf(name) !== arn) {
    logger.warn("the lease belongs to an execution of another state machine, which cannot continue the run");
    return "free";
  }
  const { account, runId } = named;
  const state = await executions.describe(arn);
  if (state.kind === "running") return "taken";
  if (state.kind === "ended") {
    logger.warn(`the execution ${name}, which has the lease, has ended as ${state.status}`);
    if (mayTakeOver) await abandonRun(ports, executions, settings, { runId, execution: arn });
    return "free";
  }
  await executions.start(name, { account, runId, turn: 0 });
  logger.warn(`the run ${runId} was handed over to the execution ${name}, which is started only now`);
  return "taken";
}
