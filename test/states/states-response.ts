// Answers the calls of Step Functions that reach a proxy, from executions in the interpreter, as AWS shapes them.

import { z } from "zod";
import { type Asked, type Carried, type Fault, jsonResponse } from "../aws/aws-proxy.ts";
import type { Execution } from "./execution.ts";
import { EngineError, type StatesEngine } from "./states-engine.ts";

const TARGET = "AWSStepFunctions.";
const startSchema = z.object({ stateMachineArn: z.string(), name: z.string(), input: z.string() });
const executionSchema = z.object({ executionArn: z.string() });

/** Undefined for a call of another service. Throws for one of Step Functions that is not answered here. */
export function statesResponse(
  engine: StatesEngine,
  { action }: Asked,
  { body }: Carried,
): Fault | undefined {
  if (!action?.startsWith(TARGET)) return undefined;
  try {
    return {
      status: 200,
      headers: { "content-type": "application/x-amz-json-1.0" },
      body: JSON.stringify(answer(engine, action.slice(TARGET.length), JSON.parse(body.toString()))),
    };
  } catch (error) {
    if (error instanceof EngineError) return jsonResponse(error.code, error.message);
    throw error;
  }
}

function answer(engine: StatesEngine, operation: string, input: unknown): object {
  switch (operation) {
    case "StartExecution": {
      const { stateMachineArn, name, input: text } = startSchema.parse(input);
      const { start, startedAtMs } = engine.start(stateMachineArn, name, text);
      return { executionArn: start.arn, startDate: startedAtMs / 1000 };
    }
    case "DescribeExecution":
      return described(engine.describe(executionSchema.parse(input).executionArn));
    case "StopExecution":
      engine.stop(executionSchema.parse(input).executionArn);
      return { stopDate: 0 };
    default:
      throw new Error(`${operation} is not answered here`);
  }
}

/** The part of it that callers read; JSON leaves out what is undefined. */
function described({ start, status, startedAtMs, stoppedAtMs, output, error, cause }: Execution): object {
  return {
    executionArn: start.arn,
    stateMachineArn: start.stateMachineArn,
    name: start.name,
    status,
    startDate: startedAtMs / 1000,
    stopDate: stoppedAtMs === undefined ? undefined : stoppedAtMs / 1000,
    input: JSON.stringify(start.input),
    output: output === undefined ? undefined : JSON.stringify(output),
    error,
    cause,
  };
}
