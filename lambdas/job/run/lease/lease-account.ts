// An account that this process works on: its lease, and the rate limiter whose usage the lease carries to the next start.

import { RateLimiter, type RateLimiterUsage, UNRECORDED_MS } from "../../service/rate-limit/rate-limiter.ts";
import { type Limit, windowAllowance } from "../../settings/limit.ts";
import { LoginWithheld, openAccount } from "../login/open-account.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import {
  acquireLease,
  type LeaseRequest,
  type LeaseTaken,
  type Skipped,
  skippedAsLost,
  skippedAsTaken,
} from "./acquire-lease.ts";
import { Lease, type LeasedCommand, LeaseLost, leaseNameOf } from "./lease.ts";
import { EXPIRY_MS } from "./lease-file.ts";

export interface LeasedAccount {
  readonly lease: Lease;
  /** Knows what earlier holders used in the last window. The lease carries that usage also where nothing is sent. */
  readonly rateLimiter: RateLimiter;
}

/** Takes the account's lease, or says which process holds it. */
export async function leaseAccount(
  ports: RunPorts,
  settings: RunSettings,
  request: Omit<LeaseRequest, "signal">,
): Promise<LeasedAccount | LeaseTaken> {
  const { store, clock, logger, isGone, signal } = ports;
  const holder = { token: ports.random.token(), ...ports.process };
  const options = { store, clock, logger, holder, isGone };
  const lease = await acquireLease(options, { ...request, signal });
  if (!(lease instanceof Lease)) return lease;
  const rateLimiter = unusedRateLimiter(ports, settings);
  const use = earlierUse(lease, clock.now(), settings);
  rateLimiter.add(use);
  lease.carry(() => rateLimiter.usage());
  // What is assumed beyond the lease stays assumed also if this process crashes at once.
  if (use.length > lease.earlier.length) await lease.record();
  rateLimiter.recordWith(() => lease.record());
  permitWhileHeld(rateLimiter, lease);
  return { lease, rateLimiter };
}

export function unusedRateLimiter({ clock }: RunPorts, settings: RunSettings): RateLimiter {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  return new RateLimiter({ requestsPerMinute, bytesPerMinute, windowMs, clock });
}

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<CountingService>;

/**
 * Returns what `work` returns, or why it did not begin or did not end. The ports that `work` is given stop it when the
 * lease is lost.
 */
export async function withLease<T>(
  ports: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, ports: RunPorts, budget: RateLimiter) => Promise<T>,
): Promise<T | Skipped> {
  const runId = leaseNameOf(command, ports.clock.now());
  const leased = await leaseAccount(ports, settings, { runId });
  if ("takenBy" in leased) return skippedAsTaken(leased);
  const { lease, rateLimiter } = leased;
  const stoppable: RunPorts = { ...ports, signal: AbortSignal.any([ports.signal, lease.lost]) };
  try {
    return await work(() => openAccount(stoppable, rateLimiter, "manual"), stoppable, rateLimiter);
  } catch (error) {
    if (error instanceof LoginWithheld) return error.end;
    if (ports.signal.aborted || !(lease.lost.reason instanceof LeaseLost)) throw error;
    return skippedAsLost(lease.lost.reason);
  } finally {
    await lease.release();
  }
}

/** A process that was stopped for a while first finds out, by writing the lease, whether it is still its own. */
export function permitWhileHeld(
  rateLimiter: RateLimiter,
  lease: Pick<Lease, "isOverdue" | "record" | "whenWritten">,
): void {
  let isAsked = false;
  const askAgain = rateLimiter.permitWhile(() => {
    if (!lease.isOverdue) return true;
    // Where the store fails, the renewals in the background try again.
    if (!isAsked) void lease.record();
    isAsked = true;
    return false;
  });
  lease.whenWritten(() => {
    isAsked = false;
    askAgain();
  });
}

/** What earlier holders of a lease have used of the budget, as far as it is known, and at most where it is not. */
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
    use.atMs >= crashedAtMs - EXPIRY_MS ? { ...use, atMs: Math.max(use.atMs, crashedAtMs) } : use;
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
