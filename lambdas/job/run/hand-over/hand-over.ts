// The end of an attempt that stopped early: the run continues in an execution of the state machine.
//
// The execution is written into the lease before it is started. A process that dies in between leaves a lease whose
// execution is absent, and the next start starts it; one that dies later leaves an execution that runs.

import { SyncError } from "../../errors/sync-error.ts";

import { type EarlyStop, StoppedEarly } from "../collect/time-budget.ts";
import type { RunEnd } from "../record/run-result.ts";
import type { RunSession } from "../run-session.ts";
import { type Executions, executionName, nameOfExecution } from "./executions.ts";

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
 * `LeaseLost`, and what store and state machine throw.
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
  const { account } = session.settings;
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
