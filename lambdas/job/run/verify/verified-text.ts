// What a verification found, as a program and as a person reads it.

import { countText } from "../record/count-text.ts";
import type { Verdicts } from "./verdicts.ts";
import type { Verified } from "./verify.ts";

/** Contract: the line of `--json`, and in the function's answer. They add up to the sample. */
export interface VerifiedCounts {
  readonly same: number;
  readonly changed: number;
  /** What a run would leave out now: no longer there, forbidden, too large, or nested too deep. */
  readonly gone: number;
}

export function verifiedCounts({ counts }: Pick<Verified, "counts">): VerifiedCounts {
  const { same, changed, gone, forbidden, oversize, too_deep } = counts;
  return { same, changed, gone: gone + forbidden + oversize + too_deep };
}

/** `97 same, 2 changed since, 1 gone`. */
export function verifiedText(found: Pick<Verified, "counts">): string {
  const { same, changed, gone } = verifiedCounts(found);
  const parts = `${countText(same)} same, ${countText(changed)} changed since, ${countText(gone)} gone`;
  const reasons = goneReasons(found.counts);
  return reasons === "" ? parts : `${parts} (${reasons})`;
}

/** Only what is not plainly gone needs a word. */
function goneReasons({ forbidden, oversize, too_deep }: Verdicts["counts"]): string {
  const reasons = [
    ...(forbidden === 0 ? [] : [`${countText(forbidden)} forbidden`]),
    ...(oversize === 0 ? [] : [`${countText(oversize)} too large`]),
    ...(too_deep === 0 ? [] : [`${countText(too_deep)} nested too deep`]),
  ];
  return reasons.join(", ");
}
