// One execution of a state machine: goes from state to state until it ends, and can be redriven where it failed.

import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import type { Definition, Retrier, State, TaskState } from "./definition.ts";

/** Quotas of the engine ("Quotas related to state machine executions"). */
const MAX_HISTORY = 25_000;

export type ExecutionStatus = "RUNNING" | "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

export type TaskResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: string; readonly cause: string };

export interface ExecutionPorts {
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** Between 0 and 1, for jitter. */
  readonly random: () => number;
  /** Runs a task. Its time limit is compared with the clock when it returns. */
  readonly invoke: (resource: string, payload: unknown) => Promise<TaskResult>;
  readonly onEnd: (execution: Execution) => void;
}

export interface ExecutionStart {
  readonly arn: string;
  readonly stateMachineArn: string;
  readonly name: string;
  readonly input: unknown;
}

export interface HistoryEvent {
  /** `TaskStateEntered`, `LambdaFunctionScheduled`, … */
  readonly type: string;
  readonly atMs: number;
}

interface Position {
  readonly state: string;
  readonly input: unknown;
}

export class Execution {
  readonly start: ExecutionStart;
  readonly startedAtMs: number;
  readonly history: HistoryEvent[] = [];
  status: ExecutionStatus = "RUNNING";
  stoppedAtMs: number | undefined;
  output: unknown;
  error: string | undefined;
  cause: string | undefined;
  redriveCount = 0;
  readonly #definition: Definition;
  readonly #ports: ExecutionPorts;
  #position: Position;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(definition: Definition, start: ExecutionStart, ports: ExecutionPorts) {
    this.start = start;
    this.startedAtMs = ports.clock.now();
    this.#definition = definition;
    this.#ports = ports;
    this.#position = { state: definition.StartAt, input: start.input };
    this.#record("ExecutionStarted");
  }

  /** Resolves when the execution has ended; rejects for what is not run here. */
  async run(): Promise<void> {
    const { TimeoutSeconds = Number.POSITIVE_INFINITY } = this.#definition;
    this.#deadlineMs = this.#ports.clock.now() + TimeoutSeconds * 1000;
    try {
      for (let next: Position | undefined = this.#position; next !== undefined; ) {
        this.#position = next;
        next = await this.#step(next);
      }
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      this.#end("FAILED", error);
    }
  }

  /** As `StopExecution`: a task that is under way goes on, and its result is dropped. */
  stop(): void {
    this.#end("ABORTED");
  }

  /** As `RedriveExecution`: from the state that failed, with its input and all its retries. */
  redrive(): Promise<void> {
    this.status = "RUNNING";
    this.stoppedAtMs = undefined;
    this.error = undefined;
    this.cause = undefined;
    this.redriveCount += 1;
    this.#record("ExecutionRedriven");
    return this.run();
  }

  /** The next position; undefined at the end. */
  async #step({ state: name, input }: Position): Promise<Position | undefined> {
    const state = this.#definition.States[name];
    if (state === undefined) throw new Error(`there is no state ${name}`);
    this.#record(`${state.Type}StateEntered`);
    const data: Data = { input, context: this.#context() };
    switch (state.Type) {
      case "Task":
        return this.#leave(state, await this.#task(state, data));
      case "Wait":
        await this.#sleep(waitMs(readPath(state.SecondsPath, data)));
        return this.#leave(state, input);
      case "Choice":
        return this.#choose(choose(state, data), input);
      case "Succeed":
        this.#record("SucceedStateExited");
        return this.#succeed(input);
      case "Fail":
        throw new StateError(state.Error, state.Cause);
    }
  }

  #choose(state: string, input: unknown): Position {
    this.#record("ChoiceStateExited");
    return { state, input };
  }

  #leave(state: Extract<State, { readonly Type: "Task" | "Wait" }>, output: unknown): Position | undefined {
    if (this.status !== "RUNNING") return undefined;
    this.#record(`${state.Type}StateExited`);
    return state.Next === undefined ? this.#succeed(output) : { state: state.Next, input: output };
  }

  /** The task's result. */
  async #task(state: TaskState, data: Data): Promise<unknown> {
    const payload = state.Parameters === undefined ? data.input : fillParameters(state.Parameters, data);
    const retries = new Retries(state.Retry, this.#ports.random);
    for (;;) {
      this.#record("LambdaFunctionScheduled");
      this.#record("LambdaFunctionStarted");
      const result = await this.#attempt(state, payload);
      if (this.status !== "RUNNING") return undefined;
      if (result.ok) {
        this.#record("LambdaFunctionSucceeded");
        return result.payload;
      }
      this.#record(result.error === "States.Timeout" ? "LambdaFunctionTimedOut" : "LambdaFunctionFailed");
      const delayMs = retries.delayMs(result.error);
      if (delayMs === undefined) throw new StateError(result.error, result.cause);
      await this.#sleep(delayMs);
      if (this.status !== "RUNNING") return undefined;
    }
  }

  async #attempt({ Resource, TimeoutSeconds }: TaskState, payload: unknown): Promise<TaskResult> {
    const { clock, invoke } = this.#ports;
    const startedAtMs = clock.now();
    const result = await invoke(Resource, payload);
    this.#checkTime();
    if (clock.now() - startedAtMs <= TimeoutSeconds * 1000) return result;
    return { ok: false, error: "States.Timeout", cause: "" };
  }

  async #sleep(ms: number): Promise<void> {
    const { clock } = this.#ports;
    await clock.sleep(Math.min(ms, Math.max(0, this.#deadlineMs - clock.now())));
    this.#checkTime();
  }

  #checkTime(): void {
    if (this.#ports.clock.now() >= this.#deadlineMs)
      this.#end("TIMED_OUT", new StateError("States.Timeout", ""));
  }

  #succeed(output: unknown): undefined {
    this.output = output;
    this.#end("SUCCEEDED");
    return undefined;
  }

  #end(status: Exclude<ExecutionStatus, "RUNNING">, error?: StateError): void {
    if (this.status !== "RUNNING") return;
    this.status = status;
    this.error = error?.error;
    this.cause = error?.message;
    this.stoppedAtMs = this.#ports.clock.now();
    this.history.push({ type: ENDS[status], atMs: this.stoppedAtMs });
    this.#ports.onEnd(this);
  }

  #record(type: string): void {
    // The last place is for the end.
    if (this.history.length >= MAX_HISTORY - 1) {
      throw new StateError("States.Runtime", `The execution reached ${MAX_HISTORY} events of history.`);
    }
    this.history.push({ type, atMs: this.#ports.clock.now() });
  }

  #context(): Data["context"] {
    const { arn, input } = this.start;
    return { Execution: { Id: arn, Input: input } };
  }
}

const ENDS = {
  SUCCEEDED: "ExecutionSucceeded",
  FAILED: "ExecutionFailed",
  TIMED_OUT: "ExecutionTimedOut",
  ABORTED: "ExecutionAborted",
} as const;

function waitMs(seconds: unknown): number {
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0 && seconds <= 99_999_999) {
    return seconds * 1000;
  }
  throw new StateError(
    "States.Runtime",
    `SecondsPath leads to ${JSON.stringify(seconds)}, which is no number of seconds`,
  );
}

/** The name of the next state: of the first rule that holds, or the default. */
function choose(state: Extract<State, { readonly Type: "Choice" }>, data: Data): string {
  const chosen = state.Choices.find(
    ({ Variable, BooleanEquals }) => readPath(Variable, data) === BooleanEquals,
  );
  const next = chosen?.Next ?? state.Default;
  if (next === undefined) throw new StateError("States.NoChoiceMatched", "No choice rule matched.");
  return next;
}

/** Decides whether a failed task is tried again, and after how long. Its counts last as long as the execution is in the state. */
class Retries {
  readonly #retriers: readonly Retrier[];
  /** Between 0 and 1. */
  readonly #random: () => number;
  readonly #attempts = new Map<Retrier, number>();

  constructor(retriers: readonly Retrier[], random: () => number) {
    this.#retriers = retriers;
    this.#random = random;
  }

  /** The wait before the next attempt; undefined if the error is not retried, or not any more. */
  delayMs(error: string): number | undefined {
    const retrier = this.#retriers.find(({ ErrorEquals }) => ErrorEquals.includes(error));
    if (retrier === undefined) return undefined;
    const done = this.#attempts.get(retrier) ?? 0;
    if (done >= retrier.MaxAttempts) return undefined;
    this.#attempts.set(retrier, done + 1);
    const {
      IntervalSeconds,
      BackoffRate,
      MaxDelaySeconds = Number.POSITIVE_INFINITY,
      JitterStrategy,
    } = retrier;
    const seconds = Math.min(IntervalSeconds * BackoffRate ** done, MaxDelaySeconds);
    return seconds * 1000 * (JitterStrategy === "FULL" ? this.#random() : 1);
  }
}

/** An error of the engine or of a task, as an execution fails with it: the name that `Retry` compares, and a text. */
export class StateError extends Error {
  override readonly name = "StateError";
  /** `States.Timeout`, `SERVICE_UNAVAILABLE` */
  readonly error: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.error = error;
  }
}

/** What the paths of a state are read in. */
export interface Data {
  /** The state's input. */
  readonly input: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Throws an `Error` for a path of another form, and `error` as the engine's name where nothing is at the path. */
function readPath(path: string, { input, context }: Data, error = "States.Runtime"): unknown {
  if (!/^\$\$?(\.[A-Za-z_]\w*)*$/.test(path)) {
    throw new Error(`This path is not read here: ${path}. Expected a form such as $.a.b or $$.Execution.Id`);
  }
  const [root, ...keys] = path.split(".");
  let value: unknown = root === "$" ? input : context;
  for (const key of keys) {
    const entries = new Map(isObject(value) ? Object.entries(value) : []);
    if (!entries.has(key)) {
      throw new StateError(
        error,
        `The path '${path}' could not be found in the input ${JSON.stringify(input)}`,
      );
    }
    value = entries.get(key);
  }
  return value;
}

/** `Parameters`: a key that ends in `.$` has a path as its value, and loses the ending. */
function fillParameters(template: unknown, data: Data): unknown {
  if (Array.isArray(template)) return template.map((each) => fillParameters(each, data));
  if (!isObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => {
      if (!key.endsWith(".$")) return [key, fillParameters(value, data)];
      return [key.slice(0, -2), readPath(String(value), data, "States.ParameterPathFailure")];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
