// An execution has ended without success: what the rule that says so is answered.

import { abandonRun } from "../../job/run/hand-over/abandon-run.ts";
import type { AbandonRequest } from "../request.ts";
import { type HandOverTask, ownExecutions } from "./hand-over-task.ts";

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
