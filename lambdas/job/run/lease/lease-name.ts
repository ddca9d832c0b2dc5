// The `run_id` of a lease: a run's id, or the name of a command that makes no run.

import { formatRunId } from "../../storage/run-id.ts";

/** Commands that work on an account without making a run. They last seconds or minutes, a large `verify` longer. */
const COMMANDS = ["check", "discover", "verify", "remove"] as const;
export type LeasedCommand = (typeof COMMANDS)[number];

/** `check-2026-11-21T06-00-00.000Z`. */
export function leaseNameOf(command: LeasedCommand, startedAtMs: number): string {
  return `${command}-${formatRunId(startedAtMs)}`;
}

/** Undefined for a run. */
export function commandOf(leaseName: string): LeasedCommand | undefined {
  return COMMANDS.find((command) => leaseName.startsWith(`${command}-`));
}

/** In words, for messages: `the run 2026-11-21T06-00-00.000Z`, `the command check`. */
export function workOf(leaseName: string): string {
  const command = commandOf(leaseName);
  return command === undefined ? `the run ${leaseName}` : `the command ${command}`;
}
