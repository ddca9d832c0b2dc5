// The executions of a state machine of Step Functions.

import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { awsError, commonRemedy, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { nameOfExecution } from "../lease/lease-file.ts";
import type { ExecutionInput, ExecutionState, Executions } from "./executions.ts";

export class StepFunctionsExecutions implements Executions {
  readonly #client: SFNClient;
  readonly #stateMachineArn: string;

  constructor(client: SFNClient, stateMachineArn: string) {
    this.#client = client;
    this.#stateMachineArn = stateMachineArn;
  }

  arnOf(name: string): string {
    return `${this.#stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  }

  async start(name: string, { account, runId, turn }: ExecutionInput): Promise<"started" | "taken"> {
    // The same text each time: Step Functions compares inputs as text.
    const input = JSON.stringify({ account, runId, turn });
    const command = new StartExecutionCommand({ stateMachineArn: this.#stateMachineArn, name, input });
    try {
      await this.#client.send(command);
      return "started";
    } catch (error) {
      if (error instanceof ExecutionAlreadyExists) return "taken";
      throw explained(error, `The execution ${name} could not be started`);
    }
  }

  async describe(arn: string): Promise<ExecutionState> {
    try {
      return stateOf(await this.#client.send(new DescribeExecutionCommand({ executionArn: arn })));
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return { kind: "absent" };
      const name = nameOfExecution(arn);
      throw explained(error, `Step Functions does not say whether the execution ${name} runs`);
    }
  }
}

function stateOf({ status, stopDate, error, cause }: DescribeExecutionOutput): ExecutionState {
  switch (status) {
    case "SUCCEEDED":
    case "FAILED":
    case "TIMED_OUT":
    case "ABORTED":
      return { kind: "ended", status, endedAtMs: stopDate?.getTime(), error, cause };
    default:
      return { kind: "running" }; // PENDING_REDRIVE too
  }
}

/** Retryable whatever the cause: the run that is handed over must stay unfinished. */
function explained(error: unknown, what: string): unknown {
  const found = awsError(error);
  if (found === undefined) return error;
  const remedy =
    commonRemedy(found) ??
    `Step Functions says ${found.name}: ${found.message} If a permission is missing, deploy the stack again.`;
  return new SyncError("INTERRUPTED", `${what}: ${remedy} What is staged is kept.`, {
    fields: { aws_error: found.name },
    cause: shortCause(found),
  });
}
