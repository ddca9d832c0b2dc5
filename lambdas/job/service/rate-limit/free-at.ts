// When each part of the budget will have room for more requests, if nothing else is sent meanwhile.

import type { UsageWindow } from "./usage-window.ts";

export interface BudgetState {
  readonly window: UsageWindow;
  readonly windowMs: number;
  /** What a window may hold. */
  readonly most: { readonly requests: number; readonly bytes: number };
  /** They count as answered now, so for them the result is an estimate. */
  readonly inFlight: { readonly requests: number; readonly bytes: number };
  /** Of the bodies to come. */
  readonly sizes: { readonly largest: number; readonly mean: number };
  /** By the monotonic clock, as the result. */
  readonly nowMs: number;
}

/** For so many requests. What a window does not hold takes further windows. */
export function freeAtMs(
  requests: number,
  state: BudgetState,
): { readonly requests: number; readonly bytes: number } {
  const { most, inFlight, sizes } = state;
  const bytes = Math.max(1, sizes.largest + (requests - 1) * sizes.mean);
  return {
    requests: amountFreeAtMs(requests, most.requests, state, (used, rest) => {
      return used.requests + inFlight.requests + rest <= most.requests;
    }),
    bytes: amountFreeAtMs(bytes, most.bytes, state, (used, rest) => {
      const isAlone = inFlight.requests === 0 && used.bytes === 0;
      return isAlone || used.bytes + inFlight.bytes + rest <= most.bytes;
    }),
  };
}

/** Whole windows, and then what is left of the amount. */
function amountFreeAtMs(
  amount: number,
  most: number,
  { window, windowMs, nowMs }: BudgetState,
  fits: (used: { readonly requests: number; readonly bytes: number }, rest: number) => boolean,
): number {
  const windows = Number.isFinite(most) ? Math.max(0, Math.ceil(amount / most) - 1) : 0;
  const rest = windows === 0 ? amount : amount - windows * most;
  // If requests in flight fill it, a window is empty a window after their responses.
  const atMs = window.fitsAtMs((used) => fits(used, rest)) ?? nowMs + windowMs + 1;
  return atMs + windows * (windowMs + 1);
}
