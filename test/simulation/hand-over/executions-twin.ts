// Step Functions as a world has it: executions that run, and what each process sees of them.

import type {
  EndStatus,
  ExecutionInput,
  ExecutionState,
  Executions,
} from "../../../lambdas/job/run/hand-over/executions.ts";
import type { Start } from "../plan/plan.ts";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import type { Job } from "../versions/job.ts";

export interface SimExecution {
  readonly arn: string;
  readonly input: ExecutionInput;
  /** The start whose process has started it. */
  readonly start: Start;
  state: Exclude<ExecutionState, { readonly kind: "absent" }>;
}

const PREFIX = "arn:aws:states:eu-west-1:123456789012:execution:sync:";

export class ExecutionsTwin {
  readonly #executions = new Map<string, SimExecution>();
  readonly #play: (execution: SimExecution) => void;
  #ends = 0;

  /** @param play acts as the state machine for an execution, from its start to its end */
  constructor(play: (execution: SimExecution) => void) {
    this.#play = play;
  }

  get areAllOver(): boolean {
    return [...this.#executions.values()].every(({ state }) => state.kind === "ended");
  }

  end(execution: SimExecution, status: EndStatus, error?: string): void {
    this.#ends += 1;
    execution.state = { kind: "ended", status, endedAtMs: this.#ends, error, cause: undefined };
  }

  /** The port of one process. */
  seenBy(process: SimProcess, start: Start): Executions {
    const arnOf = (name: string): string => `${PREFIX}${name}`;
    return {
      arnOf,
      start: (name, input) =>
        process.call(
          "executions",
          `starts the execution ${name}`,
          () => this.#start({ arn: arnOf(name), input, start, state: { kind: "running" } }),
          FAILURES,
        ),
      describe: (arn) =>
        process.call(
          "executions",
          `describes ${arn.slice(PREFIX.length)}`,
          (): ExecutionState => this.#executions.get(arn)?.state ?? { kind: "absent" },
          FAILURES,
        ),
    };
  }

  #start(execution: SimExecution): "started" | "taken" {
    const found = this.#executions.get(execution.arn);
    if (found === undefined) {
      this.#executions.set(execution.arn, execution);
      this.#play(execution);
      return "started";
    }
    const isSame = JSON.stringify(found.input) === JSON.stringify(execution.input);
    return isSame && found.state.kind === "running" ? "started" : "taken";
  }
}

const failed = ({ SyncError }: Job): Error =>
  new SyncError("INTERRUPTED", "The simulated Step Functions does not respond.");
const FAILURES: CallFailures = { refused: failed, lost: failed };
