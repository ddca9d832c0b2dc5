// The name of an execution of the state machine. It can be read back, so an event about an execution names its run.

import { isAccountName } from "../../settings/account-name.ts";
import { runInstant } from "../../storage/run-id.ts";

export interface NamedExecution {
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
  if (!isAccountName(account) || runInstant(runId) === undefined) return undefined;
  return { account, runId, n: Number(n) };
}

/** The last part of an execution's ARN. */
export function nameOfExecution(arn: string): string {
  return arn.slice(arn.lastIndexOf(":") + 1);
}
