// Step Functions as a world has it: executions that run, one turn after the other with waits between them, retries, and the
// rule about a failure; and what each process sees of them.

import type {
  EndStatus,
  ExecutionInput,
  ExecutionState,
  Executions,
} from "../../../lambdas/job/run/hand-over/executions.ts";
import { nameOfExecution } from "../../../lambdas/job/run/lease/lease-file.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import type { Account } from "../account.ts";
import type { Start } from "../plan/plan.ts";
import type { Job } from "../versions/job.ts";
import type { World } from "../world.ts";
import { type Ended, endedBy, endOfResult } from "./do-command.ts";
import { liveProcess, RETRIES_AFTER_MS } from "./live-process.ts";
import type { CallFailures, SimProcess } from "./sim-process.ts";

interface SimExecution {
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

/** Of the state machine, each twice as long after the one before. */
const FIRST_RETRY_MS = 60_000;
const RETRIES = 6;
/** The processes of a start are numbered: those of its execution come after the function's own. */
const FIRST_ATTEMPT = 3;

interface TurnEnded extends Ended {
  readonly turn?: { readonly isDone: boolean; readonly waitSeconds: number };
}

export function playExecution(world: World, twin: ExecutionsTwin, execution: SimExecution): void {
  const { timeline, story } = world;
  const { arn, input, start } = execution;
  const accounts = world.accountsOf(input.account);
  const name = nameOfExecution(arn);
  story.tell(name, "begins");
  let invocations = 0;
  const invoke = (turn: number, retries: number): void => {
    let last: TurnEnded | undefined;
    const lived = {
      world,
      accounts,
      name: `${start.id}-turn${turn}${retries === 0 ? "" : `.${retries + 1}`}-${name.slice(name.lastIndexOf("-") + 1)}`,
      start,
      attempt: FIRST_ATTEMPT + invocations,
      requestId: `${name} ${turn}`,
      work: async (job: Job, { settings }: Account, ports: RunPorts) => {
        last = await continued(world, { job, ports, settings }, execution, turn);
        return last;
      },
      what: `continues for ${name}`,
    };
    invocations += 1;
    liveProcess(lived, (ended) => {
      if (ended?.isFailure === false && last?.turn) {
        const { isDone, waitSeconds } = last.turn;
        if (isDone) end("SUCCEEDED");
        else timeline.at(timeline.nowMs + waitSeconds * 1_000, () => invoke(turn + 1, 0));
        return;
      }
      const isFinal = ended?.result?.error?.isRetryable === false || retries === RETRIES;
      if (isFinal) end("FAILED", ended?.result?.error?.code);
      else timeline.at(timeline.nowMs + FIRST_RETRY_MS * 2 ** retries, () => invoke(turn, retries + 1));
    });
  };
  const end = (status: "SUCCEEDED" | "FAILED", error?: string): void => {
    story.tell(name, `ends: ${status} ${error ?? ""}`);
    twin.end(execution, status, error);
    if (status === "FAILED") abandon(world, execution, 0);
  };
  // The start returns to its caller first.
  timeline.at(timeline.nowMs + 1, () => invoke(0, 0));
}

async function continued(
  world: World,
  { job, ports, settings }: { readonly job: Job; readonly ports: RunPorts; readonly settings: RunSettings },
  { arn, input }: SimExecution,
  turn: number,
): Promise<TurnEnded> {
  const { maxTurns } = world.plan.setting;
  return endedBy(job, async (): Promise<TurnEnded> => {
    const end = await job.continueRun(ports, settings, {
      runId: input.runId,
      execution: arn,
      turn,
      maxTurns,
    });
    const { result, isDone, waitSeconds } = end;
    // A repeat of what has failed is no failure of this execution.
    const isFailure = result.error !== undefined && result.isRepeat !== true;
    return { ...endOfResult(result), isFailure, turn: { isDone, waitSeconds } };
  });
}

/** The rule calls the function, which Lambda starts again where it fails. */
function abandon(world: World, execution: SimExecution, attempt: number): void {
  const { timeline } = world;
  const { arn, input, start } = execution;
  const name = nameOfExecution(arn);
  world.open += 1;
  const lived = {
    world,
    accounts: world.accountsOf(input.account),
    name: `${start.id}-abandon${attempt === 0 ? "" : `.${attempt + 1}`}-${name.slice(name.lastIndexOf("-") + 1)}`,
    start,
    attempt: undefined,
    requestId: `abandon ${name}`,
    work: (job: Job, { settings }: Account, ports: RunPorts) =>
      endedBy(job, async () => {
        const { executions } = ports;
        if (executions === undefined) throw new Error("there is no state machine");
        const about = { runId: input.runId, execution: arn };
        const abandonment = await job.abandonRun(ports, executions, settings, about);
        const text = "result" in abandonment ? "abandoned" : abandonment.explanation;
        return { text, isFailure: false };
      }),
    what: `abandons ${name}`,
  };
  liveProcess(lived, (ended) => {
    world.open -= 1;
    const waitMs = ended?.isFailure === false ? undefined : RETRIES_AFTER_MS[attempt];
    if (waitMs !== undefined)
      timeline.at(timeline.nowMs + waitMs, () => abandon(world, execution, attempt + 1));
  });
}
