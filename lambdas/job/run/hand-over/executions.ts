// The executions of the state machine, which calls the function again and again until a run is done.

import { accountName } from "../../settings/values.ts";
import { runInstant } from "../../storage/layout.ts";

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

/** The name of an execution of the state machine. It can be read back, so an event about an execution names its run. */
interface NamedExecution {
  readonly account: string;
  readonly runId: string;
  /** From 1; no number is used twice for a run, because the name of an ended execution stays taken for 90 days. */
  readonly n: number;
}

/** `uk-20261121T060000000Z-1`; 80 characters at most, which is all that Step Functions takes. */
export function executionName({ account, runId, n }: NamedExecution): string {
  return `${account}-${runId.replaceAll(/[-.]/g, "")}-${n}`;
}

/** Undefined for the name of anything else. */
export function parseExecutionName(name: string): NamedExecution | undefined {
  const found = /^(.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-([1-9]\d{0,8})$/.exec(name);
  if (found === null) return undefined;
  const [, account = "", year, month, day, hour, minute, second, ms, n] = found;
  const runId = `${year}-${month}-${day}T${hour}-${minute}-${second}.${ms}Z`;
  if (!accountName.safeParse(account).success || runInstant(runId) === undefined) return undefined;
  return { account, runId, n: Number(n) };
}
