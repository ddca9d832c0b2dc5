// The twin of Step Functions in memory: executions run until a test ends them.

import { isDeepStrictEqual } from "node:util";
import type {
  EndStatus,
  ExecutionInput,
  ExecutionState,
  Executions,
} from "../../../../lambdas/job/run/hand-over/executions.ts";

interface Execution {
  readonly input: ExecutionInput;
  state: Exclude<ExecutionState, { readonly kind: "absent" }>;
}

/** The same executions, of which none can be started by this process. */
export function withoutStart(executions: Executions, error: Error): Executions {
  return {
    arnOf: (name) => executions.arnOf(name),
    describe: (arn) => executions.describe(arn),
    start: () => Promise.reject(error),
  };
}

export class MemoryExecutions implements Executions {
  readonly #prefix: string;
  readonly #executions = new Map<string, Execution>();
  #ends = 0;

  constructor(prefix = "arn:aws:states:eu-west-1:123456789012:execution:sync:") {
    this.#prefix = prefix;
  }

  /** The names of all that were started, in order. */
  get names(): readonly string[] {
    return [...this.#executions.keys()];
  }

  /** The ARN and the input of the execution that runs; throws unless exactly one does. */
  get running(): { readonly arn: string; readonly input: ExecutionInput } | undefined {
    const running = [...this.#executions].filter(([, { state }]) => state.kind === "running");
    const [[name, execution] = [], ...others] = running;
    if (others.length > 0) throw new Error(`several executions run: ${running.map(([each]) => each)}`);
    return name === undefined || execution === undefined
      ? undefined
      : { arn: this.arnOf(name), input: execution.input };
  }

  arnOf(name: string): string {
    return `${this.#prefix}${name}`;
  }

  async start(name: string, input: ExecutionInput): Promise<"started" | "taken"> {
    const found = this.#executions.get(name);
    if (found === undefined) {
      this.#executions.set(name, { input, state: { kind: "running" } });
      return "started";
    }
    return isDeepStrictEqual(found.input, input) && found.state.kind === "running" ? "started" : "taken";
  }

  async describe(arn: string): Promise<ExecutionState> {
    return this.#executions.get(arn.slice(this.#prefix.length))?.state ?? { kind: "absent" };
  }

  end(arn: string, status: EndStatus, error?: string, cause?: string): void {
    this.#ends += 1;
    this.#get(arn).state = { kind: "ended", status, endedAtMs: this.#ends, error, cause };
  }

  /** The execution runs again, as after a redrive. */
  redrive(arn: string): void {
    this.#get(arn).state = { kind: "running" };
  }

  #get(arn: string): Execution {
    const found = this.#executions.get(arn.slice(this.#prefix.length));
    if (found === undefined) throw new Error(`there is no execution ${arn}`);
    return found;
  }
}
