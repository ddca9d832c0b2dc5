// The account's lease for this process, and the budget that goes with it.

import { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { BUDGET_SHARE } from "../collect/estimate.ts";
import type { RunPorts, RunSettings } from "../run-ports.ts";
import { acquireLease, type LeaseRequest, type LeaseTaken } from "./acquire-lease.ts";
import type { Lease } from "./lease.ts";
import { workOf } from "./lease-name.ts";

/** A start that did nothing, because another process works on the account. */
export interface Skipped {
  readonly outcome: "SKIPPED";
  readonly reason: "LEASE_TAKEN" | "LEASE_LOST";
  readonly explanation: string;
}

export function takeLease(
  ports: RunPorts,
  account: string,
  request: Omit<LeaseRequest, "signal">,
): Promise<Lease | LeaseTaken> {
  const { store, clock, logger, isGone, signal } = ports;
  const holder = { token: ports.random.token(), ...ports.process };
  return acquireLease({ store, account, clock, logger, holder, isGone }, { ...request, signal });
}

export function leaseTakenEnd({ takenBy, expiresAt }: LeaseTaken): Skipped {
  const work = workOf(takenBy);
  return {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation: `T${work.slice(1)} works on this account; its lease lasts until ${expiresAt} unless it is renewed. Start again when it has ended.`,
  };
}

/** A budget that knows what the holders before used in the last window; its own use goes into the lease. */
export function leasedRateLimiter(lease: Lease, ports: RunPorts, settings: RunSettings): RateLimiter {
  const { requestsPerMinute, bytesPerMinute } = settings;
  const rateLimiter = freshRateLimiter(ports, settings);
  rateLimiter.add(lease.earlier);
  if (lease.crashedAtMs !== undefined) {
    // What it sent between its last renewal and its death is not known: assume all that was allowed.
    const requests = requestsPerMinute === "unlimited" ? 0 : requestsPerMinute;
    const bytes = bytesPerMinute === "unlimited" ? 0 : bytesPerMinute;
    rateLimiter.add([{ atMs: lease.crashedAtMs, requests, bytes }]);
  }
  lease.carry(() => rateLimiter.usage());
  return rateLimiter;
}

/** A budget of which nothing is used. */
export function freshRateLimiter({ clock }: RunPorts, settings: RunSettings): RateLimiter {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  return new RateLimiter({
    requestsPerWindow: requestsPerMinute,
    bytesPerWindow: bytesPerMinute,
    windowMs,
    share: BUDGET_SHARE,
    clock,
  });
}
