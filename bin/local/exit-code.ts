// The exit code of a command (design section 7).

import type { SyncError } from "../../lambdas/errors/sync-error.ts";
import type { RunResult } from "../../lambdas/run/outcome.ts";

export const EXIT = { done: 0, failed: 1, wrongInput: 2, held: 3, skipped: 4, interrupted: 130 } as const;

export function exitCodeOfError({ code }: SyncError): number {
  if (code === "INTERRUPTED") return EXIT.interrupted;
  return code === "CONFIG_INVALID" || code === "CREDENTIALS_INVALID" ? EXIT.wrongInput : EXIT.failed;
}

export function exitCodeOfRun({ row, error }: RunResult): number {
  switch (row.outcome) {
    case "PUBLISHED":
    case "DRY_RUN":
      return EXIT.done;
    case "HELD":
      return EXIT.held;
    case "SKIPPED":
    case "SUPERSEDED":
      return EXIT.skipped;
    case "FAILED":
      return error === undefined ? EXIT.failed : exitCodeOfError(error);
  }
}
