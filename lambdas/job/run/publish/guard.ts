// Decides whether a complete snapshot may replace the one that readers see. Bad data never replaces good data.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import type { Incomplete } from "../../snapshot/fields/field-profile.ts";
import { readLeftOut } from "../../snapshot/files/manifest.ts";
import type { Missing, Publication } from "../../storage/publication.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { HoldFacts } from "../record/held-mark.ts";
import type { RunSettings } from "../run-settings.ts";

type GuardLimits = Pick<RunSettings, "maxDropPercent" | "maxGrowthPercent" | "maxMissingPercent">;

interface GuardCounts extends Missing {
  /** Of the list, as the plan has them. */
  readonly readings: number;
  readonly unstable: number;
  readonly events: number;
  /** Parts of `rejected`. */
  readonly oversize: number;
  readonly too_deep: number;
  /** Another part: those that could not be read while others could. */
  readonly unreadable?: number;
  /** Of them, those that the head does not leave out: the others hold nothing. In the order of the list. */
  readonly newlyUnreadable?: readonly string[];
  /** What a person accepted last; undefined for nothing. */
  readonly accepted: Missing | undefined;
  /** Events of the head's snapshot; undefined for the first one. */
  readonly headEvents: number | undefined;
  readonly incomplete: Incomplete;
  /** Some are missing because of one answer: more were missing than might be, by what the head accepted then. */
  readonly isUnconfirmed?: boolean;
}

const ALWAYS_MAY_BE_MISSING = 5;
const MOST_NAMED = 3;
const MIN_ROWS_PERCENT = 80;
const MISSING_REASONS = ["gone", "forbidden", "rejected"] as const;

/** Why this snapshot is held; undefined if it may be published. */
export function guard(counts: GuardCounts, limits: GuardLimits): HoldFacts | undefined {
  const { listed, events, headEvents, readings, unstable, unreadable = 0, newlyUnreadable = [] } = counts;
  const { gone, forbidden, rejected, oversize, too_deep } = counts;
  const { maxDropPercent, maxGrowthPercent } = limits;
  const most = mayBeMissing(listed, limits);
  const missing = { gone, forbidden, rejected, oversize, too_deep, unreadable };
  if (events === 0) return { reason: "NO_EVENTS", listed, missing };
  if (unstable > most) return { reason: "LIST_UNSTABLE", listed, readings, unstable, most, missing };
  if (headEvents !== undefined && events * 100 < headEvents * (100 - maxDropPercent))
    return { reason: "DROPPED", events, seen: headEvents, limit: maxDropPercent, missing };
  if (
    headEvents !== undefined &&
    maxGrowthPercent !== undefined &&
    events * 100 > headEvents * (100 + maxGrowthPercent)
  )
    return { reason: "GREW", events, seen: headEvents, limit: maxGrowthPercent, missing };
  const unaccepted = moreThanAccepted({
    ...counts,
    rejected: rejected - (unreadable - newlyUnreadable.length),
  });
  const all = gone + forbidden + rejected;
  const before = unaccepted === all ? {} : { before: all - unaccepted };
  if (areFewRows(unaccepted, listed))
    return { reason: "FEW_ROWS", listed, events, limit: MIN_ROWS_PERCENT, ...before, missing };
  if (unaccepted > most) return { reason: "MISSING", listed, most, ...before, missing };
  if (counts.isUnconfirmed) return { reason: "MISSING", listed, missing };
  if (newlyUnreadable.length > 0) {
    const uuids = newlyUnreadable.slice(0, MOST_NAMED);
    return { reason: "UNREADABLE", listed, newly: newlyUnreadable.length, uuids, missing };
  }
  return guardRequired(counts, limits);
}

/** Held where too many events lack a required field; undefined where they do not. */
export function guardRequired(
  { listed, events, incomplete }: Pick<GuardCounts, "listed" | "events" | "incomplete">,
  limits: Pick<GuardLimits, "maxMissingPercent">,
): HoldFacts | undefined {
  const most = mayBeMissing(listed, limits);
  const { events: lacking, fields } = incomplete;
  return lacking <= most ? undefined : { reason: "REQUIRED", events, lacking, most, fields };
}

/** Whether the snapshot of a list of which so much is missing is held, whatever else it has. */
export function areTooManyMissing(
  counts: Missing & Pick<GuardCounts, "accepted">,
  limits: Pick<GuardLimits, "maxMissingPercent">,
): boolean {
  const unaccepted = moreThanAccepted(counts);
  return areFewRows(unaccepted, counts.listed) || unaccepted > mayBeMissing(counts.listed, limits);
}

function areFewRows(unaccepted: number, listed: number): boolean {
  return unaccepted * 100 > listed * (100 - MIN_ROWS_PERCENT);
}

export function mayBeMissing(
  listed: number,
  { maxMissingPercent }: Pick<GuardLimits, "maxMissingPercent">,
): number {
  return Math.max(ALWAYS_MAY_BE_MISSING, Math.floor((listed * maxMissingPercent) / 100));
}

/** Of each reason: the share of it that was accepted is expected again. */
function moreThanAccepted({ accepted, ...found }: Missing & Pick<GuardCounts, "accepted">): number {
  return MISSING_REASONS.reduce((sum, reason) => {
    const share = accepted === undefined || accepted.listed === 0 ? 0 : accepted[reason] / accepted.listed;
    return sum + Math.max(0, found[reason] - Math.floor(found.listed * share));
  }, 0);
}

/** What the head says of refusals when a process starts. */
export interface KnownRefusals {
  /**
   * Of the events that it leaves out, for whatever reason: readers do not see them, so one more answer takes nothing from
   * them. The refusal of any other event is news.
   */
  readonly uuids: ReadonlySet<string>;
  /** What a person has accepted as missing. */
  readonly accepted: Missing | undefined;
}

/** Reads them from the head. Without a head, or where its list is damaged, none is known. */
export async function knownRefusals(
  store: AccountStore,
  head: Publication | undefined,
): Promise<KnownRefusals> {
  const leftOut =
    head && (await readLeftOut(store, store.keys.leftOut(head.snapshot_id)).catch(undefinedIfDamaged));
  return { uuids: new Set(leftOut?.map(({ uuid }) => uuid)), accepted: head?.accepted };
}
