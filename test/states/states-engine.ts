// The engine around a state machine: starts, describes, stops and redrives executions, and tells how each ended.

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
