// The engine around a state machine: starts, describes, stops and redrives executions, tells how each ended, and answers the
// calls of Step Functions that reach a proxy, as AWS shapes them.

import { z } from "zod";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import { type Asked, type Carried, type Fault, jsonResponse } from "../aws/aws-proxy.ts";
import { parseDefinition } from "./definition.ts";
import { Execution, type ExecutionPorts, type ExecutionStatus } from "./execution.ts";

/** A refused call, with the code that AWS gives it. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code:
    | "ExecutionAlreadyExists"
    | "ExecutionDoesNotExist"
    | "ExecutionNotRedrivable"
    | "StateMachineDoesNotExist";

  constructor(code: EngineError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface StatesEngineOptions extends Omit<ExecutionPorts, "onEnd"> {
  readonly stateMachineArn: string;
  readonly definition: unknown;
  /** Gets the `detail` of the event that AWS sends to the default bus, for each start and each end. */
  readonly onChange?: (detail: StatusChange) => void;
}

/** `detail` of "Step Functions Execution Status Change". */
export interface StatusChange {
  readonly executionArn: string;
  readonly stateMachineArn: string;
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly input: string;
}

export class StatesEngine {
  readonly stateMachineArn: string;
  readonly #definition: ReturnType<typeof parseDefinition>;
  readonly #ports: ExecutionPorts;
  readonly #onChange: (detail: StatusChange) => void;
  readonly #executions = new Map<string, Execution>();
  readonly #underWay = new Set<Promise<void>>();

  constructor({ stateMachineArn, definition, onChange = () => undefined, ...ports }: StatesEngineOptions) {
    this.stateMachineArn = stateMachineArn;
    this.#definition = parseDefinition(definition);
    this.#ports = { ...ports, onEnd: (execution) => this.#announce(execution) };
    this.#onChange = onChange;
  }

  /** All executions, in the order of their starts. */
  get executions(): readonly Execution[] {
    return [...this.#executions.values()];
  }

  /** @param input JSON text. The same name and input while the execution runs is the same execution. */
  start(stateMachineArn: string, name: string, input: string): Execution {
    if (stateMachineArn !== this.stateMachineArn) {
      throw new EngineError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${stateMachineArn}'`);
    }
    const arn = `${this.stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
    const value: unknown = JSON.parse(input);
    const existing = this.#executions.get(arn);
    if (existing !== undefined) {
      const isSame = JSON.stringify(existing.start.input) === JSON.stringify(value);
      if (existing.status === "RUNNING" && isSame) return existing;
      throw new EngineError("ExecutionAlreadyExists", `Execution Already Exists: '${arn}'`);
    }
    const execution = new Execution(
      this.#definition,
      { arn, stateMachineArn, name, input: value },
      this.#ports,
    );
    this.#executions.set(arn, execution);
    this.#announce(execution);
    this.#follow(execution.run());
    return execution;
  }

  describe(executionArn: string): Execution {
    const execution = this.#executions.get(executionArn);
    if (execution === undefined) {
      throw new EngineError("ExecutionDoesNotExist", `Execution Does Not Exist: '${executionArn}'`);
    }
    return execution;
  }

  redrive(executionArn: string): void {
    const execution = this.describe(executionArn);
    if (execution.status === "RUNNING" || execution.status === "SUCCEEDED") {
      throw new EngineError(
        "ExecutionNotRedrivable",
        `Execution is ${execution.status} and cannot be redriven`,
      );
    }
    const redriven = execution.redrive();
    this.#announce(execution);
    this.#follow(redriven);
  }

  stop(executionArn: string): void {
    this.describe(executionArn).stop();
  }

  /** Resolves when no execution is under way; rejects if one met what is not run here. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #follow(run: Promise<void>): void {
    this.#underWay.add(run);
    // A failed one stays, so that `idle` rejects.
    run.then(
      () => this.#underWay.delete(run),
      () => undefined,
    );
  }

  #announce({ start, status }: Execution): void {
    const { arn, stateMachineArn, name, input } = start;
    this.#onChange({ executionArn: arn, stateMachineArn, name, status, input: JSON.stringify(input) });
  }
}

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

/** Stands still, and skips every wait. */
export class SkippingClock implements Pick<Clock, "now" | "sleep"> {
  /** What was waited for, in its order. */
  readonly waitsMs: number[] = [];
  #nowMs: number;
  #isStopped = false;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(ms: number): Promise<void> {
    this.waitsMs.push(ms);
    if (this.#isStopped) await new Promise(() => undefined);
    this.advance(ms);
  }

  /** From now on a wait has no end. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }
}
