// Takes an account's lease if it is free, expired or damaged, or if its holder no longer exists or works for the same
// execution.

import { nameOfExecution } from "../hand-over/executions.ts";
import { commandOf, instantOf, Lease, type LeaseLost, type LeaseOptions, workOf } from "./lease.ts";
import {
  EXPIRY_MS,
  encodeLease,
  executionOf,
  expiryMs,
  type Holder,
  isHeld,
  knownSinceMs,
  type LeaseFile,
  leaseOf,
  readLease,
} from "./lease-file.ts";

const POLL_MS = 5_000;

export interface AcquireOptions extends LeaseOptions {
  /** True only if that process certainly no longer exists; false where that cannot be known. */
  readonly isGone: (holder: Holder) => boolean;
}

export interface LeaseRequest {
  readonly runId: string;
  /** The ARN of the execution that this invocation works for. */
  readonly execution?: string | undefined;
  /** Whether the execution that has the lease still works; without it that lease is always taken. */
  readonly askExecution?: ((execution: string) => Promise<"taken" | "free">) | undefined;
  /** A triggered start that finds its own run's lease waits until it expires, and gives up once it is renewed. */
  readonly waitForOwnRun?: boolean;
  /** A run that finds the lease of a command, which is brief, waits up to a minute for its end. */
  readonly waitForCommand?: boolean;
  readonly signal: AbortSignal;
}

/** Another process or execution has the lease: for which run or command. */
export interface LeaseTaken {
  readonly takenBy: string;
  /** The ARN of the execution; undefined for a process. */
  readonly execution: string | undefined;
  /** Null for an execution. */
  readonly expiresAt: string | null;
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
  const { store, clock, logger, holder, isGone } = options;
  const { runId, execution } = request;
  const key = store.keys.lease;
  let first: Sight | undefined;
  for (;;) {
    const stored = await readLease(store);
    const found = stored?.lease;
    const nowMs = clock.now();
    const other = found && executionOf(found);
    if (found && other !== undefined) {
      if (other !== execution && !(await mayTakeOver(request, other))) return takenBy(found, nowMs);
    } else if (stored && found && isHeld(found, nowMs) && !(found.holder && isGone(found.holder))) {
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
    const earlier = found?.use ?? [];
    const handedOver = found?.handed_over;
    const facts = { run_id: runId, holder, execution, handed_over: handedOver, use: earlier };
    const writtenAt = instantOf(clock);
    const lease = encodeLease(leaseOf(facts, writtenAt.wallMs));
    const version = stored ? await store.replace(key, lease, stored.version) : await store.create(key, lease);
    if (version === undefined) continue;
    const crashedAtMs = found && endOfUncounted(found, nowMs);
    const sinceMs = found ? knownSinceMs(found) : stored ? nowMs : Number.NEGATIVE_INFINITY;
    const known = { earlier, knownSinceMs: sinceMs, crashedAtMs };
    return new Lease(options, { runId, execution, version, writtenAt, handedOver, ...known });
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

/** An execution that has ended works no more. An invocation of another execution never takes its lease. */
async function mayTakeOver({ execution, askExecution }: LeaseRequest, other: string): Promise<boolean> {
  const answer = await askExecution?.(other);
  return execution === undefined && answer === "free";
}

function takenBy(lease: LeaseFile, nowMs: number): LeaseTaken {
  const execution = executionOf(lease);
  const expiresAt = execution === undefined ? new Date(expiryMs(lease, nowMs)).toISOString() : null;
  return { takenBy: lease.run_id ?? "", execution, expiresAt };
}

/**
 * Until when a holder that did not free the lease may have sent requests that are not counted in it: its writes may take
 * long, and it sends until the lease expires. An execution without a holder waits, and everything is counted.
 */
export function endOfUncounted(lease: LeaseFile, nowMs: number): number | undefined {
  const isWaiting = executionOf(lease) !== undefined && lease.holder === null;
  return lease.run_id === null || isWaiting ? undefined : Math.min(expiryMs(lease, nowMs), nowMs);
}

/** A start that ends without a snapshot because another process works on the account, or because its login is withheld. */
export interface Skipped {
  readonly outcome: "SKIPPED";
  readonly reason: "LEASE_TAKEN" | "LEASE_LOST" | "LOGIN_REFUSED";
  readonly explanation: string;
}

/** Another process or an execution had the lease when this process started. */
export function skippedAsTaken({ takenBy, execution, expiresAt }: LeaseTaken): Skipped {
  const work = workOf(takenBy);
  const why =
    execution === undefined
      ? `${capitalized(work)} works on this account; its lease lasts until ${expiresAt} unless it is renewed.`
      : `${capitalized(work)} of this account was handed over to the execution ${nameOfExecution(execution)} of the state machine, and the lease is the execution's until it ends.`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation: `${why} Start again when it has ended.`,
  };
}

/** Another process took the lease over while this one worked. */
export function skippedAsLost({ takenBy }: LeaseLost): Skipped {
  const by = takenBy === null ? "" : `: ${workOf(takenBy)}`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process took over the lease of this account${by}. Staged work is kept. Start again when that process has ended.`,
  };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
