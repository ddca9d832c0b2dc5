// A held snapshot in words: what publishing it would do, which events that concerns, and the commands to paste.

import { type HeldCommands, ifNotAccepted } from "../../../lambdas/job/run/compare/held-snapshots.ts";
import type { Preview } from "../../../lambdas/job/run/compare/preview.ts";
import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { PLACE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";

interface Held {
  readonly snapshotId: string;
  /** Whether the account is pinned, so that waiting publishes nothing. */
  readonly isPinned: boolean;
  /** Absent where an earlier version has held it. */
  readonly preview?: Preview | undefined;
}

/**
 * All of it, for one snapshot.
 * @param head the snapshot that readers see now; null for none
 */
export function describeHeld(held: Held, head: string | null, values: PlaceValues): readonly string[] {
  const [look, publish] = commandLines(held, values);
  const { preview, isPinned } = held;
  return [
    ...(preview ? [wouldDo(preview, head), ...firstOfEach(preview)] : []),
    look,
    publish,
    `or wait: ${ifNotAccepted(isPinned)}`,
  ];
}

/** In short, where a later one waits too. */
export function describeEarlierHeld(held: Held, head: string | null, values: PlaceValues): readonly string[] {
  return [...(held.preview ? [wouldDo(held.preview, head)] : []), ...commandLines(held, values)];
}

function commandLines({ snapshotId }: Held, values: PlaceValues): readonly [string, string] {
  const { accept, diff } = heldCommands(snapshotId, values);
  return [`look at it: ${diff}`, `publish it anyway: ${accept}`];
}

function firstOfEach(preview: Preview): readonly string[] {
  const { added, changed, removed, uuids } = preview;
  return [
    ...first("added", added ?? 0, uuids.added),
    ...first("changed", changed ?? 0, uuids.changed),
    ...first("removed", removed ?? 0, uuids.removed),
    ...missingOf(preview).flatMap(([what, missing, some]) => first(`missing because ${what}`, missing, some)),
  ];
}

type Missing = readonly [what: string, count: number, firstUuids: readonly string[]];

/** Listed events without a row, by reason. */
export function missingOf(preview: Preview): readonly Missing[] {
  const { gone, forbidden, rejected, oversize, too_deep, uuids } = preview;
  return [
    ["forbidden (403)", forbidden, uuids.forbidden],
    ["gone (404 or 410)", gone, uuids.gone],
    ["too large", oversize, uuids.oversize],
    ["nested too deep", too_deep, uuids.too_deep],
    ["without a valid uuid", rejected - oversize - too_deep, []],
  ];
}

/** `publishing it would add 5, change 8 and remove 412 events, compared with …`. */
export function wouldDo(
  { base_snapshot_id: base, added, changed, removed }: Preview,
  head: string | null,
): string {
  if (added === null || changed === null || removed === null)
    return "what publishing it would change is not known, because a file is damaged (check --deep names it)";
  const what = `publishing it would add ${countText(added)}, change ${countText(changed)} and remove ${countText(removed)} events`;
  if (base === null) return `${what}; nothing was published before`;
  if (base === head) return `${what}, compared with ${base}, which readers see`;
  return `${what}, compared with ${base}, which readers saw then; diff compares it with what they see now`;
}

/** `removed, the first 10 of 412: …`. */
function first(what: string, all: number, uuids: readonly string[]): readonly string[] {
  if (all === 0) return [];
  const some =
    all > uuids.length && uuids.length > 0
      ? `the first ${uuids.length} of ${countText(all)}`
      : countText(all);
  return [[`  ${what}, ${some}`, ...(uuids.length === 0 ? [] : [uuids.join(", ")])].join(": ")];
}

interface HeldJson extends Held {
  readonly reason: string | null;
  readonly explanation: string;
}

/** `preview` is null where an earlier version has held it. */
export function heldJson(
  { snapshotId, reason, explanation, preview, isPinned }: HeldJson,
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
    wait: ifNotAccepted(isPinned),
  };
}

/** The commands that decide on a held snapshot, ready to paste. */
type PlaceValues = OptionValues<(typeof PLACE_OPTIONS)[number]>;

/** @param values where the snapshot is */
export function heldCommands(snapshotId: string, values: PlaceValues): HeldCommands {
  const command = (name: string): string => commandLineText([name, snapshotId], PLACE_OPTIONS, values);
  return { accept: command("accept"), diff: command("diff") };
}
