// An account that this process works on: its lease, and the rate limiter whose usage the lease carries to the next start.

import { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { type Limit, windowAllowance } from "../../settings/limit.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { acquireLease, type LeaseRequest, type LeaseTaken } from "./acquire-lease.ts";
import { Lease } from "./lease.ts";

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
  const options = { store, account: settings.account, clock, logger, holder, isGone };
  const lease = await acquireLease(options, { ...request, signal });
  if (!(lease instanceof Lease)) return lease;
  const rateLimiter = unusedRateLimiter(ports, settings);
  rateLimiter.add(lease.earlier);
  if (lease.crashedAtMs !== undefined)
    rateLimiter.add([{ atMs: lease.crashedAtMs, ...fullWindow(settings) }]);
  lease.carry(() => rateLimiter.usage());
  return { lease, rateLimiter };
}

export function unusedRateLimiter({ clock }: RunPorts, settings: RunSettings): RateLimiter {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  return new RateLimiter({ requestsPerMinute, bytesPerMinute, windowMs, clock });
}

/** What a crashed process sent after its last renewal is unknown: assume all that was allowed. */
export function fullWindow(settings: RunSettings): { requests: number; bytes: number } {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  const all = (limit: Limit): number => (limit === "unlimited" ? 0 : windowAllowance(limit, windowMs, 1));
  return { requests: all(requestsPerMinute), bytes: all(bytesPerMinute) };
}
