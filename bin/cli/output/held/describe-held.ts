// A held snapshot in words: what publishing it would do, which events that concerns, and the commands to paste.

import { ifNotAccepted } from "../../../../lambdas/job/run/compare/if-not-accepted.ts";
import type { Preview } from "../../../../lambdas/job/run/compare/preview.ts";
import { count } from "../progress-text.ts";
import { heldCommands, type PlaceValues } from "./held-commands.ts";

interface Held {
  readonly snapshotId: string;
  readonly reason: string | null;
  /** Absent where an earlier version has held it. */
  readonly preview?: Preview | undefined;
}

/** @param head the snapshot that readers see now; null for none */
export function describeHeld(
  { snapshotId, reason, preview }: Held,
  head: string | null,
  values: PlaceValues,
): readonly string[] {
  const { accept, diff } = heldCommands(snapshotId, values);
  return [
    ...(preview ? describePreview(preview, head) : []),
    `look at it: ${diff}`,
    `publish it anyway: ${accept}`,
    `or wait: ${ifNotAccepted(reason)}`,
  ];
}

function describePreview(preview: Preview, head: string | null): readonly string[] {
  const { added, changed, removed, gone, forbidden, rejected, oversize, uuids } = preview;
  return [
    wouldDo(preview, head),
    ...first("added", added ?? 0, uuids.added),
    ...first("changed", changed ?? 0, uuids.changed),
    ...first("removed", removed ?? 0, uuids.removed),
    ...first("missing, forbidden (403)", forbidden, uuids.forbidden),
    ...first("missing, gone (404 or 410)", gone, uuids.gone),
    ...first("missing, too large", oversize, uuids.oversize),
    ...first("missing, without a valid uuid", rejected - oversize, []),
  ];
}

function wouldDo({ base_snapshot_id: base, added, changed, removed }: Preview, head: string | null): string {
  if (added === null || changed === null || removed === null)
    return "what publishing it would change is not known, because a file is damaged (check --deep names it)";
  const what = `publishing it would add ${count(added)}, change ${count(changed)} and remove ${count(removed)} events`;
  if (base === null) return `${what}; nothing was published before`;
  if (base === head) return `${what}, compared with ${base}, which readers see`;
  return `${what}, compared with ${base}, which readers saw then; diff compares it with what they see now`;
}

/** `removed 412, the first 10: …`. */
function first(what: string, all: number, uuids: readonly string[]): readonly string[] {
  if (all === 0) return [];
  if (uuids.length === 0) return [`  ${what}: ${count(all)}`];
  const some = all > uuids.length ? `${count(all)}, the first ${uuids.length}` : count(all);
  return [`  ${what} ${some}: ${uuids.join(", ")}`];
}
