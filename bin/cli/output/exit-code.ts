// The exit code of a command.

import type { ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  wrongInput: 2,
  held: 3,
  skipped: 4,
  tooOld: 5,
  interrupted: 130,
} as const;

const WRONG_INPUT: ReadonlySet<ErrorCode> = new Set([
  "CONFIG_INVALID",
  "CREDENTIALS_INVALID",
  "SNAPSHOT_NOT_FOUND",
]);

/** What weighs most comes first. */
const BY_WEIGHT = [
  EXIT.interrupted,
  EXIT.failed,
  EXIT.wrongInput,
  EXIT.held,
  EXIT.skipped,
  EXIT.tooOld,
  EXIT.done,
];

/** Of several accounts the one that weighs most. */
export function worstExitCode(codes: readonly number[]): number {
  return BY_WEIGHT.find((code) => codes.includes(code)) ?? EXIT.done;
}

export function exitCodeOfError({ code }: SyncError): number {
  if (code === "INTERRUPTED") return EXIT.interrupted;
  return WRONG_INPUT.has(code) ? EXIT.wrongInput : EXIT.failed;
}

export function exitCodeOfRun({ row, error }: RunResult): number {
  switch (row.outcome) {
    case "PUBLISHED":
    case "HANDED_OVER":
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
