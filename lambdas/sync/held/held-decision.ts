// How a person decides on a held snapshot in AWS: what publishing it would do, what to paste, and what waiting means.

import type { HeldCommands } from "../../job/run/compare/held-detail.ts";
import { ifNotAccepted } from "../../job/run/compare/if-not-accepted.ts";
import type { Preview } from "../../job/run/compare/preview.ts";
import { heldInputs } from "./held-commands.ts";

interface Held {
  readonly account: string;
  readonly snapshotId: string;
  readonly reason: string | null;
  readonly preview?: Preview | undefined;
}

/** The events are for the console, the command is for a shell. */
export function heldDecision(
  { account, snapshotId, reason, preview }: Held,
  commandsOf: (snapshotId: string) => HeldCommands,
): object {
  const { accept, diff } = heldInputs(account, snapshotId);
  return {
    ...(preview === undefined ? {} : { preview }),
    diff_event: diff,
    accept_event: accept,
    accept_command: commandsOf(snapshotId).accept,
    wait: ifNotAccepted(reason),
  };
}
