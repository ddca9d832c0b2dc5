// What a start does that finds the lease of an execution.

import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { abandonRun } from "./abandon-run.ts";
import { nameOfExecution, parseExecutionName } from "./execution-name.ts";
import type { Executions } from "./executions.ts";

export interface AskTask {
  readonly ports: RunPorts;
  readonly executions: Executions;
  readonly settings: RunSettings;
  /** False for a turn of another execution, which never takes the lease of this one. */
  readonly mayTakeOver: boolean;
}

/**
 * `free` where the execution works no more; its failure is then recorded, unless the event about it came first. One that
 * is absent was never started, because the process that handed its run over died too early: it is started now, which
 * changes nothing if another process does the same.
 */
export async function askExecution(
  { ports, executions, settings, mayTakeOver }: AskTask,
  arn: string,
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
