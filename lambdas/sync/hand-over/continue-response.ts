// One turn of an execution, as the state machine reads it.

import { continueRun } from "../../job/run/hand-over/continue-run.ts";
import { reportResult } from "../report-result.ts";
import type { ContinueRequest } from "../request.ts";
import { type HandOverTask, ownExecutions } from "./hand-over-task.ts";

/** Contract: the definition of the state machine reads these. */
export interface ContinueResponse {
  readonly done: boolean;
  /** 0 where the next turn should follow at once. */
  readonly waitSeconds: number;
  /** How many turns are over now. */
  readonly turn: number;
}

/** Throws the error of a run that failed. The state machine tells from its name whether a retry may fix it. */
export async function continueResponse(
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
