// What the requests about an execution work with.

import { SyncError } from "../job/errors/sync-error.ts";
import { abandonRun } from "../job/run/hand-over/abandon-run.ts";
import { continueRun } from "../job/run/hand-over/continue-run.ts";
import { type Executions, nameOfExecution, parseExecutionName } from "../job/run/hand-over/executions.ts";
import type { RunPorts } from "../job/run/run-ports.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { reportResult } from "./report-result.ts";
import type { AbandonRequest, ContinueRequest } from "./request.ts";

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

/** The failure is reported, which raises the alarm, unless that was done before or the execution works after all. */
export async function abandonResponse(
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
