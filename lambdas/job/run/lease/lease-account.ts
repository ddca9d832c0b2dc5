// An account that this process works on: its lease, and the rate limiter whose usage the lease carries to the next start.

import { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { acquireLease, type LeaseRequest, type LeaseTaken } from "./acquire-lease.ts";
import { earlierUse } from "./earlier-use.ts";
import { Lease } from "./lease.ts";
import { permitWhileHeld } from "./permit-while-held.ts";

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
