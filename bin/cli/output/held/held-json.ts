// A held snapshot for a program.

import type { HeldSnapshot } from "../../../../lambdas/job/run/compare/held-snapshots.ts";
import { ifNotAccepted } from "../../../../lambdas/job/run/compare/if-not-accepted.ts";
import { heldCommands, type PlaceValues } from "./held-commands.ts";

/** `preview` is null where an earlier version has held it. */
export function heldJson(
  { snapshotId, reason, explanation, preview }: HeldSnapshot,
  values: PlaceValues,
): object {
  const { accept, diff } = heldCommands(snapshotId, values);
  return {
    snapshot_id: snapshotId,
    reason,
    explanation,
    preview: preview ?? null,
    accept_command: accept,
    diff_command: diff,
    wait: ifNotAccepted(reason),
  };
}
