// The executions of the state machine, which calls the function again and again until a run is done.

/** What an execution works on. Two with the same name and input are the same execution. */
export interface ExecutionInput {
  readonly account: string;
  readonly runId: string;
  /** How many invocations of this execution are over. */
  readonly turn: number;
}

export type ExecutionState =
  | { readonly kind: "absent" }
  | { readonly kind: "running" }
  | {
      readonly kind: "ended";
      readonly status: EndStatus;
      /** Milliseconds since the Unix epoch: one that is started again and ends again has another one. */
      readonly endedAtMs: number | undefined;
      /** The name of the error that ended it. */
      readonly error: string | undefined;
      /** What AWS knows about that error: for an error of the function, JSON with its message. */
      readonly cause: string | undefined;
    };

export type EndStatus = "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

/** Every method throws `SyncError` `INTERRUPTED` where Step Functions does not do it. Performs no retries of its own. */
export interface Executions {
  /** The ARN that an execution with this name has, whether there is one or not. */
  arnOf(name: string): string;
  /**
   * Starts an execution. One that runs under this name with this input is the same one; `taken` where the name belongs
   * to another one, or to one that has ended.
   */
  start(name: string, input: ExecutionInput): Promise<"started" | "taken">;
  describe(arn: string): Promise<ExecutionState>;
}
