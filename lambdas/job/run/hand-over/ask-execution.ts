// What a start does that finds the lease of an execution.

import type { Logger } from "../../runtime/logger.ts";
import { nameOfExecution, parseExecutionName } from "./execution-name.ts";
import type { Executions } from "./executions.ts";

/**
 * `free` where the execution works no more. One that is absent was never started, because the process that handed its
 * run over died too early: it is started now, which changes nothing if another process does the same.
 */
export async function askExecution(
  executions: Executions,
  arn: string,
  logger: Logger,
): Promise<"taken" | "free"> {
  const name = nameOfExecution(arn);
  const named = parseExecutionName(name);
  if (named === undefined || executions.arnOf(name) !== arn) {
    logger.warn("the lease belongs to an execution of another state machine, which cannot continue the run");
    return "free";
  }
  const state = await executions.describe(arn);
  if (state.kind === "running") return "taken";
  if (state.kind === "ended") {
    logger.warn(`the execution ${name}, which has the lease, has ended as ${state.status}`);
    return "free";
  }
  const { account, runId } = named;
  await executions.start(name, { account, runId, turn: 0 });
  logger.warn(`the run ${runId} was handed over to the execution ${name}, which is started only now`);
  return "taken";
}
