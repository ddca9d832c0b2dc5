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
const MOST_NAMED = 3;
const MOST_REASONS = 2;
const MIN_ROWS_PERCENT = 80;
const MISSING_REASONS = ["gone", "forbidden", "rejected"] as const;

/** Why this snapshot is held; undefined if it may be published. */
export function guard(counts: GuardCounts, limits: GuardLimits): Hold | undefined {
  const { listed, events, headEvents, unstable, unreadable = 0, newlyUnreadable = [] } = counts;
  const most = mayBeMissing(listed, limits);
  const missing = counts.gone + counts.forbidden + counts.rejected;
  const reasons = missingReasons(counts, MOST_REASONS);
  const without = reasons === "" ? "" : ` Missing: ${reasons}.`;
  if (events === 0) {
    const why =
      listed === 0
        ? "An empty list is nearly always the service's fault"
        : `None of the ${countText(listed)} listed events has details, nearly always by the service's fault`;
    return {
      reason: "NO_EVENTS",
      explanation: `${why}, and publishing it empties the tables. Ask its operator first.${without}`,
    };
  }
  if (unstable > most) {
    return {
      reason: "LIST_UNSTABLE",
      explanation: `${describeUnstable(counts)} The limit is ${countText(most)} (--max-missing; maxMissingPercent in AWS).`,
    };
  }
  if (headEvents !== undefined && events * 100 < headEvents * (100 - limits.maxDropPercent)) {
    const percent = ((1 - events / headEvents) * 100).toFixed(1);
    return {
      reason: "DROPPED",
      explanation: `${countText(events)} events are ${percent} % fewer than the ${countText(headEvents)} that readers see now; the limit is ${limits.maxDropPercent} % (--max-drop; maxDropPercent in AWS).${without}`,
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
      explanation: `${countText(events)} events are ${growth(events, headEvents)} the ${countText(headEvents)} that readers see now; the limit is ${maxGrowthPercent} % (--max-growth; maxGrowthPercent in AWS).${without}`,
    };
  }
  const unaccepted = moreThanAccepted({
    ...counts,
    rejected: counts.rejected - (unreadable - newlyUnreadable.length),
  });
  const beside = unaccepted === missing ? "" : `, besides ${countText(missing - unaccepted)} accepted before`;
  if (areFewRows(unaccepted, listed)) {
    return {
      reason: "FEW_ROWS",
      explanation: `Only ${countText(events)} of ${countText(listed)} listed events have details: ${reasons}. At least ${MIN_ROWS_PERCENT} % must${beside}, whatever is set. Accepting lets similar later ones pass.`,
    };
  }
  const lacking = `${countText(missing)} of ${countText(listed)} listed events have no details`;
  if (unaccepted > most) {
    const percent = Math.floor((unaccepted / listed) * 100) + 1;
    return {
      reason: "MISSING",
      explanation: `${lacking} (${countText(most)} may${beside}): ${reasons}. Accepting, or --max-missing ${percent} (maxMissingPercent in AWS), lets later ones pass.`,
    };
  }
  if (counts.isUnconfirmed) {
    return {
      reason: "MISSING",
      explanation: `${lacking}: ${reasons}. Some were asked for once only, as fewer were accepted then: start run again, which asks twice.`,
    };
  }
  if (newlyUnreadable.length > 0) {
    return {
      reason: "UNREADABLE",
      explanation: `${countText(newlyUnreadable.length)} of ${countText(listed)} listed events cannot be read, while others can: ${firstNamed(newlyUnreadable)}. Ask the service's operator about them. Accepting lets later ones that lack only these pass.`,
    };
  }
  return guardRequired(counts, limits);
}

/** What is wrong with a list whose `unstable` is not 0. */
export function describeUnstable({ listed, readings, unstable }: ListCounts): string {
  return readings === 1
    ? `${countText(unstable)} entries of the list came on two pages, with no time or budget to read it again: about as many events may be missing.`
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
    explanation: `${countText(incomplete.events)} of ${countText(events)} events lack a required field (--require; require in AWS): ${firstNamed(named)}. ${countText(most)} may (--max-missing; maxMissingPercent in AWS).`,
  };
}

/** The preview names more of them. */
function firstNamed(all: readonly string[]): string {
  const more = all.length - MOST_NAMED;
  return `${all.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${countText(more)} more` : ""}`;
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
