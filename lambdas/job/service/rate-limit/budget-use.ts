// How much of the budget is used, for people who wait for it.

import { type BudgetState, freeAtMs } from "./free-at.ts";

export interface BudgetUse {
  /** The part of the budget that is free latest. */
  readonly limit: "requests" | "bytes";
  /** Of that part, in the window that ends now: earlier runs and requests in flight included. */
  readonly used: number;
  readonly most: number;
  readonly windowMs: number;
}

/** Where `requests` more are to be sent. */
export function budgetUse(requests: number, state: BudgetState): BudgetUse {
  const { window, windowMs, most, inFlight } = state;
  const free = freeAtMs(requests, state);
  const hasBytesOnly = !Number.isFinite(most.requests) && Number.isFinite(most.bytes);
  const limit = hasBytesOnly || free.bytes > free.requests ? "bytes" : "requests";
  return { limit, used: window[limit] + inFlight[limit], most: most[limit], windowMs };
}
