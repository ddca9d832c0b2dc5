// A limit of the service per minute, and how much of it is used.

import * as z from "zod";

const MOST = 1e12;
const EXPECTED = `expected a whole number from 1 to ${MOST}, or "unlimited"`;

export const limit = z
  .union([z.literal("unlimited"), z.number()], EXPECTED)
  .refine(
    (value) => value === "unlimited" || (Number.isInteger(value) && value >= 1 && value <= MOST),
    EXPECTED,
  );

export type Limit = z.output<typeof limit>;

/** Retries and clocks that differ need room below the limit. */
const SHARE = 0.9;

/** What may be used of a limit in a window that it is averaged over: 90 %, but always one. Without a limit, Infinity. */
export function allowance(perMinute: Limit, windowMs = 60_000, share = SHARE): number {
  if (perMinute === "unlimited") return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor(((perMinute * windowMs) / 60_000) * share));
}

export interface Limits {
  readonly requestsPerMinute: Limit;
  /** Body bytes after decoding: some services count so, and on the others it is the safe side. */
  readonly bytesPerMinute: Limit;
  /** The limits hold on average over any time of this length, so in a longer one more may go at once. */
  readonly windowMs: number;
}

/** A window in which less than one request is allowed is too short: one must always be. */
export function windowMsOf({ requestsPerMinute, windowMs }: Limits): number {
  return requestsPerMinute === "unlimited"
    ? windowMs
    : Math.max(windowMs, Math.ceil(60_000 / requestsPerMinute));
}
