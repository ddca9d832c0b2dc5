// What the requests about an execution work with.

import { SyncError } from "../../job/errors/sync-error.ts";
import { nameOfExecution, parseExecutionName } from "../../job/run/hand-over/execution-name.ts";
import type { Executions } from "../../job/run/hand-over/executions.ts";
import type { RunPorts } from "../../job/run/run-ports.ts";
import type { RunSettings } from "../../job/run/run-settings.ts";
import type { FunctionPorts } from "../function-ports.ts";

export interface HandOverTask {
  readonly ports: FunctionPorts;
  /** Those of a run in this invocation. */
  readonly host: RunPorts;
  readonly settings: RunSettings;
}

export interface OwnExecutions {
  readonly executions: Executions;
  /** Of the execution that was asked for. */
  readonly name: string;
  readonly runId: string;
}

/** Throws `CONFIG_INVALID` where there is no state machine, or where the execution is another one's. */
export function ownExecutions({ executions }: RunPorts, arn: string): OwnExecutions {
  const name = nameOfExecution(arn);
  const runId = parseExecutionName(name)?.runId;
  if (runId !== undefined && executions?.arnOf(name) === arn) return { executions, name, runId };
  throw new SyncError(
    "CONFIG_INVALID",
    `The execution ${name} is not one of this deployment's state machine. Only the state machine itself sends this input.`,
    { fields: { setting: "executionArn" } },
  );
}
