// How a number differs from an earlier one, in words.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";

/** `3 % more than`, `12 fewer than`, `as many as`: what it is compared with follows. */
export function compared(now: number, before: number): string {
  const difference = Math.abs(now - before);
  if (difference === 0) return "as many as";
  const way = now > before ? "more than" : "fewer than";
  const percent = before === 0 ? 0 : (difference / before) * 100;
  if (percent < 1) return `${countText(difference)} ${way}`;
  return `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, "") : countText(Math.round(percent))}\u00a0% ${way}`;
}
