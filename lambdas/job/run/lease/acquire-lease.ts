// Takes an account's lease if it is free, expired or damaged, or if its holder no longer exists.

import { layout } from "../../storage/layout.ts";
import { Lease, type LeaseOptions, RENEWAL_MS } from "./lease.ts";
import {
  EXPIRY_MS,
  encodeLease,
  expiryMs,
  type Holder,
  isHeld,
  type LeaseFile,
  leaseOf,
  readLease,
} from "./lease-file.ts";
import { commandOf, workOf } from "./lease-name.ts";

const POLL_MS = 5_000;

export interface AcquireOptions extends LeaseOptions {
  /** True only if that process certainly no longer exists; false where that cannot be known. */
  readonly isGone: (holder: Holder) => boolean;
}

export interface LeaseRequest {
  readonly runId: string;
  /** A triggered start that finds its own run's lease waits until it expires, and gives up once it is renewed. */
  readonly waitForOwnRun: boolean;
  /** A run that finds the lease of a command, which is brief, waits up to a minute for its end. */
  readonly waitForCommand: boolean;
  readonly signal: AbortSignal;
}

/** Another process holds the lease: for which run or command, and until when. */
export interface LeaseTaken {
  readonly takenBy: string;
  readonly expiresAt: string;
}

/** A reading of another process's lease. */
interface Sight {
  readonly version: string;
  readonly monotonicMs: number;
}

/** Takes the account's lease, or says which run or command holds it. */
export async function acquireLease(
  options: AcquireOptions,
  request: LeaseRequest,
): Promise<Lease | LeaseTaken> {
  const { store, account, clock, logger, holder, isGone } = options;
  const key = layout.lease(account);
  let first: Sight | undefined;
  for (;;) {
    const stored = await readLease(store, account);
    const found = stored?.lease;
    const nowMs = clock.now();
    if (stored && found && isHeld(found, nowMs) && !(found.holder && isGone(found.holder))) {
      const sight: Sight = { version: stored.version, monotonicMs: clock.monotonicMs() };
      const isFirst = first === undefined;
      first ??= sight;
      const leftMs = patienceMs(found, request, nowMs, first, sight);
      if (leftMs === undefined) return takenBy(found, nowMs);
      if (leftMs > 0) {
        if (isFirst) logger.info(`waits up to a minute for ${workOf(found.run_id ?? "")} to end`);
        await clock.sleep(Math.min(POLL_MS, leftMs + 1), request.signal);
        continue;
      }
    }
    if (stored && !found) logger.warn(`the file ${key} is damaged; it is written again`);
    const lease = encodeLease(leaseOf(request.runId, holder, clock.now(), found?.use ?? []));
    const version = stored ? await store.replace(key, lease, stored.version) : await store.create(key, lease);
    if (version === undefined) continue;
    const crashedAtMs = stored && (found ? endOfUncounted(found, nowMs) : nowMs);
    return new Lease(options, request.runId, version, found?.use ?? [], crashedAtMs);
  }
}

/**
 * How long to wait for another process's lease; 0 when it is free, undefined when it is taken. Where its clock is ahead
 * of ours, its dates do not show its end: a lease that changes is alive, one that does not change for a minute is free.
 */
function patienceMs(
  found: LeaseFile,
  request: LeaseRequest,
  nowMs: number,
  first: Sight,
  sight: Sight,
): number | undefined {
  const leftMs = first.monotonicMs + EXPIRY_MS - sight.monotonicMs;
  const isAhead = Date.parse(found.renewed_at) > nowMs;
  const isOwn = request.waitForOwnRun && found.run_id === request.runId;
  const isBrief = request.waitForCommand && commandOf(found.run_id ?? "") !== undefined;
  if (sight.version !== first.version) return isBrief && leftMs > 0 ? leftMs : undefined;
  if (!isAhead && !isOwn && !isBrief) return undefined;
  return Math.max(0, Math.min(leftMs, expiryMs(found, nowMs) - nowMs));
}

function takenBy(lease: LeaseFile, nowMs: number): LeaseTaken {
  return { takenBy: lease.run_id ?? "", expiresAt: new Date(expiryMs(lease, nowMs)).toISOString() };
}

/** Until when a holder that did not free the lease may have sent requests that are not counted in it. */
function endOfUncounted(lease: LeaseFile, nowMs: number): number | undefined {
  if (lease.run_id === null) return undefined;
  return Math.min(Date.parse(lease.renewed_at) + RENEWAL_MS, Date.parse(lease.expires_at), nowMs);
}
