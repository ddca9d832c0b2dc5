// What earlier holders of a lease have used of the budget, as far as it is known, and at most where it is not.

import { type RateLimiterUsage, UNRECORDED_MS } from "../../service/rate-limit/rate-limiter.ts";
import { type Limit, windowAllowance } from "../../settings/limit.ts";
import type { RunSettings } from "../run-settings.ts";
import { type Lease, RENEWAL_MS } from "./lease.ts";

type Limits = Pick<RunSettings, "requestsPerMinute" | "bytesPerMinute" | "windowMs">;

/** @param nowMs milliseconds since the Unix epoch */
export function earlierUse(
  { earlier, knownSinceMs, crashedAtMs }: Pick<Lease, "earlier" | "knownSinceMs" | "crashedAtMs">,
  nowMs: number,
  limits: Limits,
): RateLimiterUsage {
  const known = crashedAtMs === undefined ? earlier : earlier.map(whenCounted(crashedAtMs));
  return [
    ...before(knownSinceMs, nowMs, limits),
    ...known,
    ...(crashedAtMs === undefined ? [] : [{ atMs: crashedAtMs, ...most(limits, UNRECORDED_MS) }]),
  ];
}

/** The service may have counted what was in flight at the last renewal as late as the crash. */
function whenCounted(crashedAtMs: number): (use: RateLimiterUsage[number]) => RateLimiterUsage[number] {
  return (use) =>
    use.atMs > crashedAtMs - RENEWAL_MS ? { ...use, atMs: Math.max(use.atMs, crashedAtMs) } : use;
}

/** Of a part of the window of which nothing is known: all that was allowed, as late as possible. */
function before(knownSinceMs: number, nowMs: number, limits: Limits): RateLimiterUsage {
  const unknownMs = knownSinceMs - (nowMs - limits.windowMs);
  return unknownMs <= 0 ? [] : [{ atMs: knownSinceMs, ...most(limits, unknownMs) }];
}

/** What the limits allow in a time, but never more than in a window. */
function most(
  { requestsPerMinute, bytesPerMinute, windowMs }: Limits,
  ms: number,
): { readonly requests: number; readonly bytes: number } {
  const of = (limit: Limit): number =>
    limit === "unlimited" ? 0 : windowAllowance(limit, Math.min(ms, windowMs), 1);
  return { requests: of(requestsPerMinute), bytes: of(bytesPerMinute) };
}
