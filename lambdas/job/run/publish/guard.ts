// Decides whether a complete snapshot may replace the one that readers see. Bad data never replaces good data.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import type { Incomplete } from "../../snapshot/fields/field-profile.ts";
import { readLeftOut } from "../../snapshot/files/manifest.ts";
import type { Missing, Publication } from "../../storage/publication.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { Hold } from "../record/held-mark.ts";
import { countText, missingReasons } from "../record/texts.ts";
import type { RunSettings } from "../run-settings.ts";

type GuardLimits = Pick<RunSettings, "maxDropPercent" | "maxGrowthPercent" | "maxMissingPercent">;

interface GuardCounts extends Missing, ListCounts {
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

/** The list, as the plan has it. */
interface ListCounts {
  readonly listed: number;
  readonly readings: number;
  readonly unstable: number;
}

const ALWAYS_MAY_BE_MISSING = 5;
const MOST_NAMED = 10;
const MIN_ROWS_PERCENT = 80;
const MISSING_REASONS = ["gone", "forbidden", "rejected"] as const;

/** Why this snapshot is held; undefined if it may be published. */
export function guard(counts: GuardCounts, limits: GuardLimits): Hold | undefined {
  const { listed, events, headEvents, unstable, unreadable = 0, newlyUnreadable = [] } = counts;
  const most = mayBeMissing(listed, limits);
  const missing = counts.gone + counts.forbidden + counts.rejected;
  const reasons = missing === 0 ? "" : ` Missing: ${missingReasons(counts)}.`;
  if (events === 0) {
    const why =
      listed === 0 ? "the list is empty" : `none of the ${countText(listed)} listed events has details`;
    return { reason: "NO_EVENTS", explanation: `The snapshot has no events: ${why}.${reasons}` };
  }
  if (unstable > most) {
    return {
      reason: "LIST_UNSTABLE",
      explanation: `${describeUnstable(counts)} The limit is ${countText(most)} (--max-missing; maxMissingPercent in AWS).${reasons}`,
    };
  }
  if (headEvents !== undefined && events * 100 < headEvents * (100 - limits.maxDropPercent)) {
    const percent = ((1 - events / headEvents) * 100).toFixed(1);
    return {
      reason: "DROPPED",
      explanation: `${countText(events)} events are ${percent} % fewer than the ${countText(headEvents)} that readers see now; the limit is ${limits.maxDropPercent} % (--max-drop; maxDropPercent in AWS).${reasons}`,
    };
  }
  const { maxGrowthPercent } = limits;
  if (
    headEvents !== undefined &&
    maxGrowthPercent !== undefined &&
    events * 100 > headEvents * (100 + maxGrowthPercent)
  ) {
    return {
      reason: "GREW",
      explanation: `${countText(events)} events are ${growth(events, headEvents)} the ${countText(headEvents)} that readers see now; the limit is ${maxGrowthPercent} % (--max-growth; maxGrowthPercent in AWS).${reasons}`,
    };
  }
  const unaccepted = moreThanAccepted({
    ...counts,
    rejected: counts.rejected - (unreadable - newlyUnreadable.length),
  });
  const beside =
    unaccepted === missing
      ? ""
      : `, in addition to the ${countText(missing - unaccepted)} that were accepted before`;
  if (areFewRows(unaccepted, listed)) {
    return {
      reason: "FEW_ROWS",
      explanation: `Only ${countText(events)} of ${countText(listed)} listed events have details; at least ${MIN_ROWS_PERCENT} % must${beside}, and no setting changes that.${reasons} ${remedy(counts)}`,
    };
  }
  if (unaccepted > most) {
    const percent = Math.floor((unaccepted / listed) * 100) + 1;
    return {
      reason: "MISSING",
      explanation: `${countText(missing)} of ${countText(listed)} listed events have no details; ${countText(most)} may have none${beside} (--max-missing; maxMissingPercent in AWS).${reasons} ${remedy(counts)} Or allow as many: "maxMissingPercent": ${percent} in brand-events.json or cdk.json, --max-missing ${percent}.`,
    };
  }
  if (counts.isUnconfirmed) {
    return {
      reason: "MISSING",
      explanation: `${countText(missing)} of ${countText(listed)} listed events have no details, and some of them were asked for once only: when they were, fewer had been accepted.${reasons} ${remedy(counts)} Or start run again, which asks twice.`,
    };
  }
  if (newlyUnreadable.length > 0) {
    const named = newlyUnreadable.slice(0, MOST_NAMED).join(", ");
    const more = newlyUnreadable.length - MOST_NAMED;
    return {
      reason: "UNREADABLE",
      explanation: `${countText(newlyUnreadable.length)} of ${countText(listed)} listed events cannot be read, while others can: ${named}${more > 0 ? `, and ${countText(more)} more` : ""}.${reasons} Ask the service's operator about them. If you can do without them, accept this snapshot: then later ones that lack only these are published.`,
    };
  }
  return guardRequired(counts, limits);
}

/** What is wrong with a list whose `unstable` is not 0. */
export function describeUnstable({ listed, readings, unstable }: ListCounts): string {
  return readings === 1
    ? `${countText(unstable)} entries of the list had come on a page before, and there was no time or budget to read it again: if it changed while it was read, about as many events are missing in addition to the ${countText(listed)} that were found.`
    : `The list changed while it was read: ${countText(unstable)} of ${countText(listed)} events are not in each of its ${readings} readings, and others may be missing.`;
}

/** Held where too many events lack a required field; undefined where they do not. */
export function guardRequired(
  { listed, events, incomplete }: Pick<GuardCounts, "listed" | "events" | "incomplete">,
  limits: Pick<GuardLimits, "maxMissingPercent">,
): Hold | undefined {
  const most = mayBeMissing(listed, limits);
  if (incomplete.events <= most) return undefined;
  const fields = incomplete.fields.filter(({ events: lacking }) => lacking > 0);
  const named = fields.map(({ pointer, events: lacking }) => `${pointer} in ${countText(lacking)}`);
  return {
    reason: "REQUIRED",
    explanation: `${countText(incomplete.events)} of ${countText(events)} events lack a required field (--require; require in AWS): ${named.join(", ")}. ${countText(most)} may lack one (--max-missing; maxMissingPercent in AWS).`,
  };
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

function remedy({ listed, forbidden }: Missing): string {
  const refused =
    forbidden === 0
      ? "If they are right to be missing"
      : `${((forbidden / listed) * 100).toFixed(1)} % of the listed events are refused (403). If the account may not see them`;
  return `${refused}, accept this snapshot: then later ones with the same share are published.`;
}

/** `25.0 % more than`; of nothing there is no percentage. */
function growth(events: number, headEvents: number): string {
  if (headEvents === 0) return "more than";
  return `${((events / headEvents - 1) * 100).toFixed(1)} % more than`;
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
