// A run that continues in an execution of the state machine: how an attempt that stopped early is handed over, what a start
// does that finds the lease of an execution, and what is recorded of one that ended without its run.
//
// The execution is written into the lease before it is started. A process that dies in between leaves a lease whose
// execution is absent, and the next start starts it; one that dies later leaves an execution that runs.

import * as z from "zod";
import { ERROR_CODES, SyncError } from "../../errors/sync-error.ts";
import { plannedTrigger } from "../../snapshot/staging/plan.ts";
import type { AccountStore } from "../../storage/store.ts";
import { type EarlyStop, StoppedEarly } from "../collect/time-budget.ts";
import { freeLease, nameOfExecution, readExecutionLease } from "../lease/lease-file.ts";
import { beginAttempt, rowOf } from "../record/attempt.ts";
import { appendRunLog, attemptsOf, type RunLogEntry } from "../record/run-log.ts";
import { type RunEnd, type RunResult, readRunResult } from "../record/run-result.ts";
import type { RunHooks, WarehousePorts, WorldPorts } from "../run-ports.ts";
import type { RunSession } from "../run-session.ts";
import type { RunSettings } from "../run-settings.ts";
import { type ExecutionState, type Executions, executionName, parseExecutionName } from "./executions.ts";

/** The execution that an invocation works for. */
export interface OwnExecution {
  readonly arn: string;
  /** True where another execution should follow this one before its history is full. */
  readonly isLastTurn: boolean;
}

/** Names that ended executions have already. A lease that was damaged has forgotten its last number. */
const MOST_TAKEN_NAMES = 100;

/**
 * How the attempt ends. Throws an error again that is no early stop, or where nothing can continue the run; and
 * `StartSkipped`, and what store and state machine throw.
 */
export async function handOver(
  session: RunSession,
  error: unknown,
  own: OwnExecution | undefined,
): Promise<RunEnd> {
  const { executions } = session.ports;
  const stopped = session.interruptionOf(error);
  if (executions === undefined || stopped === undefined) throw error;
  const { reason, waitMs } = stopped instanceof StoppedEarly ? stopped.stop : bySignal(session);
  // The run would stop at the same point for ever: a retry of the error counts how often.
  const isStuck = own !== undefined && reason === "TIME_LIMIT" && !session.hasAdvanced;
  if (isStuck || !session.isPlanned) throw error;
  const execution = await passOn(session, executions, own);
  return {
    outcome: "HANDED_OVER",
    reason,
    explanation: `${stopped.message} That start is the execution ${nameOfExecution(execution)} of the state machine.`,
    handedOver: { execution, waitMs },
  };
}

/** In the middle of a step, perhaps while it waits for the budget, or because the service asked for a pause. */
function bySignal({ budget }: RunSession): EarlyStop {
  return { reason: "TIME_LIMIT", waitMs: budget.waitMs(1) };
}

/** Returns the ARN of the execution that has the lease now, and runs. */
async function passOn(
  session: RunSession,
  executions: Executions,
  own: OwnExecution | undefined,
): Promise<string> {
  const lease = session.lease;
  if (own && !own.isLastTurn) {
    await lease.leave();
    return own.arn;
  }
  const { account } = session.ports.store;
  const { runId } = session.attempt;
  for (let tries = 0; tries < MOST_TAKEN_NAMES; tries += 1) {
    const n = lease.nextHandOver;
    const name = executionName({ account, runId, n });
    await lease.handOver(executions.arnOf(name), n);
    const answer = await executions.start(name, { account, runId, turn: 0 });
    if (answer === "started") return executions.arnOf(name);
  }
  throw new SyncError(
    "INTERRUPTED",
    `The run ${runId} could not be handed over: the names of its last ${MOST_TAKEN_NAMES} executions are taken. The next start of this run resumes it.`,
  );
}

/**
 * For a start that finds the lease of an execution. True where it may take the lease, because the execution works no
 * more; its failure is then recorded, unless the event about it came first. One that is absent was never started,
 * because the process that handed its run over died too early: it is started now, which changes nothing if another
 * process does the same.
 * @param isTurn of another execution, which never takes the lease of this one
 */
export async function mayTakeOver(
  ports: WorldPorts & WarehousePorts & RunHooks,
  executions: Executions,
  settings: RunSettings,
  arn: string,
  isTurn: boolean,
): Promise<boolean> {
  const { logger } = ports;
  const name = nameOfExecution(arn);
  const named = parseExecutionName(name);
  if (named === undefined || executions.arnOf(name) !== arn) {
    logger.warn("the lease belongs to an execution of another state machine, which cannot continue the run");
    return !isTurn;
  }
  const { account, runId } = named;
  const state = await executions.describe(arn);
  if (state.kind === "running") return false;
  if (state.kind === "ended") {
    logger.warn(`the execution ${name}, which has the lease, has ended as ${state.status}`);
    if (!isTurn) await abandonRun(ports, executions, settings, { runId, execution: arn });
    return !isTurn;
  }
  await executions.start(name, { account, runId, turn: 0 });
  logger.warn(`the run ${runId} was handed over to the execution ${name}, which is started only now`);
  return false;
}

type EndState = Extract<ExecutionState, { readonly kind: "ended" }>;

/** The recorded failure, or why nothing was done. */
type Abandonment = { readonly result: RunResult } | { readonly explanation: string };

/**
 * Does nothing where the execution has not ended, or no longer has the lease: the event about it may be late, or be
 * delivered twice. The lease is freed last, so a repetition completes what a process that died has begun.
 * @param execution the ARN of the one that is said to have ended
 */
export async function abandonRun(
  ports: WorldPorts & WarehousePorts & RunHooks,
  executions: Executions,
  settings: RunSettings,
  { runId, execution }: { readonly runId: string; readonly execution: string },
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
      const said = await lastMessage(ports.store, runId);
      result = await record(ports, runId, errorOf(state, name, said), state.endedAtMs);
      await ports.onAbandoned?.(result);
    }
    if (!(await freeLease(ports, settings, own))) continue;
    if (result) return { result };
    return { explanation: `The run ${runId} was finished before the execution ${name} ended.` };
  }
}

/** The line's beginning is the instant of its end, so several processes that find it write one line. */
async function record(
  ports: WorldPorts & WarehousePorts,
  runId: string,
  error: SyncError,
  endedAtMs: number | undefined,
): Promise<RunResult> {
  const { store, clock } = ports;
  const begun = beginAttempt(clock, await plannedTrigger(store, runId), runId);
  const attempt = { ...begun, startedAtMs: endedAtMs ?? begun.startedAtMs };
  const row = await appendRunLog(store, rowOf(ports, attempt, { error }), true);
  return { row, error, isAbandoned: true };
}

const ownCode = z.enum(ERROR_CODES);
/** What Lambda reports of an error that the function has thrown. */
const ownCause = z.object({ errorMessage: z.string() });

/** What the last attempt has recorded, by the code of its error. */
async function lastMessage(store: AccountStore, runId: string): Promise<Recorded | undefined> {
  for await (const { error_code, error_message } of attemptsOf(store, runId))
    return { error_code, error_message };
  return undefined;
}

type Recorded = Pick<RunLogEntry, "error_code" | "error_message">;

/** The error that the function threw last, if that ended the execution; in the words of the run log, if that has it. */
function errorOf({ status, error, cause }: EndState, name: string, said: Recorded | undefined): SyncError {
  const code = ownCode.safeParse(error).data;
  const recorded = said?.error_code === code ? said?.error_message : undefined;
  const message = code && (recorded ?? ownCause.safeParse(parsed(cause)).data?.errorMessage);
  if (code !== undefined && message !== undefined) {
    return new SyncError(code, `${message} The execution ${name} has ended with this error. ${KEPT}`, {
      next: REMEDY,
    });
  }
  const why = error !== undefined && /^[\w.]{1,80}$/.test(error) ? ` (${error})` : "";
  return new SyncError("INTERRUPTED", `The execution ${name} has ended as ${status}${why}. ${KEPT}`, {
    next: REMEDY,
  });
}

const KEPT = "What is staged is kept.";
const REMEDY = "Once the cause is gone, redrive the execution, or start a run.";

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
