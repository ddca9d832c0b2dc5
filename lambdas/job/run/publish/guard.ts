// Decides whether a complete snapshot may replace the one that readers see. Bad data never replaces good data.

export const HOLD_REASONS = [
  "NO_EVENTS",
  "DROPPED",
  "FEW_ROWS",
  "MISSING",
  "PINNED",
  "MARK_DAMAGED",
] as const;
type HoldReason = (typeof HOLD_REASONS)[number];

export interface Hold {
  readonly reason: HoldReason;
  /** For a person: what was found, what was expected, which setting decides. */
  readonly explanation: string;
}

export interface GuardLimits {
  /** Percent: how many fewer events than the head are still published. */
  readonly maxDropPercent: number;
  /** Percent of the listed events that may be missing; 5 events always may. */
  readonly maxMissingPercent: number;
}

export interface GuardCounts {
  readonly listed: number;
  readonly events: number;
  readonly missing: number;
  /** Events of the head's snapshot; undefined for the first one. */
  readonly headEvents: number | undefined;
}

const ALWAYS_MAY_BE_MISSING = 5;
const MIN_ROWS_PERCENT = 80;

/** Why this snapshot is held; undefined if it may be published. */
export function guard(counts: GuardCounts, limits: GuardLimits): Hold | undefined {
  const { listed, events, missing, headEvents } = counts;
  if (events === 0) {
    return {
      reason: "NO_EVENTS",
      explanation: `The snapshot has no events at all (${listed} listed, ${missing} of them without details).`,
    };
  }
  if (headEvents !== undefined && events * 100 < headEvents * (100 - limits.maxDropPercent)) {
    const percent = ((1 - events / headEvents) * 100).toFixed(1);
    return {
      reason: "DROPPED",
      explanation: `${events} events are ${percent} % fewer than the ${headEvents} that readers see now; the limit is ${limits.maxDropPercent} % (--max-drop; maxDropPercent in AWS).`,
    };
  }
  if (events * 100 < listed * MIN_ROWS_PERCENT) {
    return {
      reason: "FEW_ROWS",
      explanation: `Only ${events} of ${listed} listed events have details; at least ${MIN_ROWS_PERCENT} % must.`,
    };
  }
  const mayBeMissing = Math.max(ALWAYS_MAY_BE_MISSING, (listed * limits.maxMissingPercent) / 100);
  if (missing > mayBeMissing) {
    return {
      reason: "MISSING",
      explanation: `${missing} of ${listed} listed events have no details; ${Math.floor(mayBeMissing)} may have none (--max-missing; maxMissingPercent in AWS).`,
    };
  }
  return undefined;
}
