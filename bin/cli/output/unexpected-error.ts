// A defect of this program, as it is reported.

import { EXIT } from "./exit-code.ts";
import type { Output } from "./output.ts";

/** Its message may quote data, so only its kind and place are shown. Returns the exit code. */
export function reportUnexpectedError(error: unknown, { stderr }: Output): number {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  const kind = error instanceof Error ? error.name : typeof error;
  stderr.lines([`Unexpected error (${kind}). This is a defect: please report it.`, ...frames]);
  return EXIT.failed;
}
