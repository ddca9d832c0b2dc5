// Where a command writes: results to stdout, messages and progress to stderr.

import type { Terminal } from "./terminal.ts";

export interface Output {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
}
