// Where a command writes: results to stdout, messages and progress to stderr.

import type { Terminal } from "./terminal.ts";

export interface Output {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
}

export interface ResultOutput extends Output {
  /** Takes the result of one account, beside what is printed for a person. */
  readonly result: (result: AccountResult) => void;
}

export interface AccountResult {
  /** As `--json` prints it. */
  readonly json: object;
  /** In one line, for a list of accounts. */
  readonly line: string;
}
