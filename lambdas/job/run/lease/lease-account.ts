// An account that this process works on: its lease, and the rate limiter whose usage the lease carries to the next start.

import { RateLimiter, type RateLimiterUsage, UNRECORDED_MS } from "../../service/rate-limit/rate-limiter.ts";
import { type Limit, windowAllowance } from "../../settings/limit.ts";
import type { AccountStore } from "../../storage/store.ts";
import { nameOfExecution } from "../hand-over/executions.ts";
import { openAccount } from "../login/open-account.ts";
import { type Skipped, StartSkipped } from "../record/run-result.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { Lease } from "./lease.ts";
import {
  commandOf,
  EXPIRY_MS,
  encodeLease,
  executionOf,
  expiryMs,
  type HeldLease,
  heldLease,
  type LeasedCommand,
  type LeaseFile,
  leaseNameOf,
  readLease,
  type StoredLease,
  workOf,
} from "./lease-file.ts";

/** Of the lease's budget: it knows what earlier holders used, and the lease carries its usage also where nothing is sent. */
export function leasedRateLimiter(ports: RunPorts, settings: RunSettings, lease: Lease): RateLimiter {
  const rateLimiter = unusedRateLimiter(ports, settings);
  rateLimiter.add(lease.earlier);
  lease.carry(() => rateLimiter.usage());
  rateLimiter.recordWith(() => lease.record());
  permitWhileHeld(rateLimiter, lease);
  return rateLimiter;
}

export function unusedRateLimiter({ clock }: RunPorts, settings: RunSettings): RateLimiter {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  return new RateLimiter({ requestsPerMinute, bytesPerMinute, windowMs, clock });
}

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<CountingService>;

/** For a command that uses the service. */
export function withLease<T>(
  ports: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, ports: RunPorts, budget: RateLimiter) => Promise<T>,
): Promise<T | Skipped> {
  return whileLeased(ports, command, settings, (lease, leased) => {
    const budget = leasedRateLimiter(leased, settings, lease);
    return work(() => openAccount(leased, budget, "manual"), leased, budget);
  });
}

/**
 * Returns what `work` returns, or why it did not begin or did not end. The ports that `work` is given stop it when the
 * lease is lost.
 */
export async function whileLeased<Ports extends AcquirePorts, T>(
  ports: Ports,
  command: LeasedCommand,
  limits: Limits | undefined,
  work: (lease: Lease, ports: Ports) => Promise<T>,
): Promise<T | Skipped> {
  let lease: Lease | undefined;
  try {
    lease = await acquireLease(ports, { runId: leaseNameOf(command, ports.clock.now()), limits });
    return await work(lease, { ...ports, signal: AbortSignal.any([ports.signal, lease.lost]) });
  } catch (error) {
    const cause: unknown = !ports.signal.aborted && lease?.lost.aborted ? lease.lost.reason : error;
    if (cause instanceof StartSkipped) return cause.end;
    throw error;
  } finally {
    await lease?.release();
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

type Limits = Pick<RunSettings, "requestsPerMinute" | "bytesPerMinute" | "windowMs">;

/**
 * What earlier holders of a lease have used of the budget, as far as it is known, and at most where it is not.
 * @param nowMs milliseconds since the Unix epoch
 */
export function earlierUse(
  stored: Pick<StoredLease, "lease"> | undefined,
  nowMs: number,
  limits: Limits,
): RateLimiterUsage {
  if (stored === undefined) return [];
  const { lease } = stored;
  const sinceMs = lease ? Date.parse(lease.use_since ?? lease.renewed_at) : nowMs;
  // All that was allowed, as late as possible.
  const unknownMs = sinceMs - (nowMs - limits.windowMs);
  const unknown = unknownMs > 0 ? [{ atMs: sinceMs, ...most(limits, unknownMs) }] : [];
  const crashedAtMs = lease && endOfUncounted(lease, nowMs);
  if (crashedAtMs === undefined) return [...unknown, ...(lease?.use ?? [])];
  // The service may have counted what was in flight at the last renewal as late as the crash.
  const known = (lease?.use ?? []).map((use) =>
    use.atMs >= crashedAtMs - EXPIRY_MS ? { ...use, atMs: Math.max(use.atMs, crashedAtMs) } : use,
  );
  return [...unknown, ...known, { atMs: crashedAtMs, ...most(limits, UNRECORDED_MS) }];
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

const POLL_MS = 5_000;

/** `isGone` is true only of a process that certainly no longer exists. */
export type AcquirePorts = Pick<
  RunPorts,
  "store" | "clock" | "logger" | "random" | "process" | "isGone" | "signal"
>;

export interface LeaseRequest {
  /** A run's id, or the name of a command. */
  readonly runId: string;
  /** The ARN of the execution that this invocation works for. */
  readonly execution?: string | undefined;
  /** Whether the lease of another execution may be taken; without it never. */
  readonly mayTakeOver?: ((execution: string) => Promise<boolean>) | undefined;
  /** A triggered start that finds its own run's lease waits until it expires, and gives up once it is renewed. */
  readonly waitForOwnRun?: boolean;
  /** Those of the budget; none for what sends nothing. */
  readonly limits?: Limits | undefined;
}

/**
 * Takes the account's lease if it is free, expired or damaged, or if its holder no longer exists or works for the same
 * execution; else throws a `StartSkipped` that says which run or command holds it. A run that finds the lease of a
 * command, which is brief, waits up to a minute for its end.
 */
export async function acquireLease(ports: AcquirePorts, request: LeaseRequest): Promise<Lease> {
  const { store, clock, logger, isGone, signal } = ports;
  const { runId, execution, mayTakeOver, limits } = request;
  const holder = { token: ports.random.token(), ...ports.process };
  /** Another process's lease, as it was when it was first seen. */
  let first: { readonly version: string; readonly monotonicMs: number } | undefined;
  for (;;) {
    const stored = await readLease(store);
    const found = stored?.lease;
    const nowMs = clock.now();
    const held = found && heldLease(found, nowMs);
    if (held?.execution !== undefined) {
      const isFree = held.execution === execution || (await mayTakeOver?.(held.execution));
      if (!isFree) throw taken(held);
    } else if (held && !(found.holder && isGone(found.holder))) {
      const seen = { version: stored.version, monotonicMs: clock.monotonicMs() };
      const isFirst = first === undefined;
      first ??= seen;
      const watchedMs = seen.monotonicMs - first.monotonicMs;
      const hasChanged = seen.version !== first.version;
      const leftMs = patienceMs(found, held.run_id, request, { nowMs, watchedMs, hasChanged });
      if (leftMs === undefined) throw taken(held);
      if (leftMs > 0) {
        if (isFirst) logger.info(`waits up to a minute for ${workOf(held.run_id)} to end`);
        await clock.sleep(Math.min(POLL_MS, leftMs + 1), signal);
        continue;
      }
    }
    if (stored && !found) logger.warn(`the file ${store.keys.lease} is damaged; it is written again`);
    // What is assumed beyond the lease stays assumed also if this process crashes at once.
    const use = limits ? earlierUse(stored, nowMs, limits) : (found?.use ?? []);
    const facts = { run_id: runId, holder, execution, handed_over: found?.handed_over, use };
    const lease = await Lease.take(ports, facts, stored?.version);
    if (lease) return lease;
  }
}

/**
 * How long to wait for another process's lease; 0 when it is free, undefined when it is taken. Where its clock is ahead
 * of ours, its dates do not show its end: a lease that changes is alive, one that does not change for a minute is free.
 */
function patienceMs(
  found: LeaseFile,
  heldBy: string,
  { runId, waitForOwnRun }: LeaseRequest,
  seen: { readonly nowMs: number; readonly watchedMs: number; readonly hasChanged: boolean },
): number | undefined {
  const { nowMs, watchedMs, hasChanged } = seen;
  const leftMs = EXPIRY_MS - watchedMs;
  const isAhead = Date.parse(found.renewed_at) > nowMs;
  const isOwn = waitForOwnRun && heldBy === runId;
  const isBrief = commandOf(runId) === undefined && commandOf(heldBy) !== undefined;
  if (hasChanged) return isBrief && leftMs > 0 ? leftMs : undefined;
  if (!isAhead && !isOwn && !isBrief) return undefined;
  return Math.max(0, Math.min(leftMs, expiryMs(found, nowMs) - nowMs));
}

function taken({ run_id, execution, expires_at }: HeldLease): StartSkipped {
  const work = workOf(run_id);
  const capitalized = work.charAt(0).toUpperCase() + work.slice(1);
  const why =
    execution === undefined
      ? `${capitalized} works on this account; its lease lasts until ${expires_at} unless it is renewed.`
      : `${capitalized} of this account was handed over to the execution ${nameOfExecution(execution)} of the state machine, and the lease is the execution's until it ends.`;
  return new StartSkipped("LEASE_TAKEN", `${why} Start again when it has ended.`);
}

/**
 * Until when a holder that did not free the lease may have sent requests that are not counted in it: its writes may take
 * long, and it sends until the lease expires. An execution without a holder waits, and everything is counted.
 */
export function endOfUncounted(lease: LeaseFile, nowMs: number): number | undefined {
  const isWaiting = executionOf(lease) !== undefined && lease.holder === null;
  return lease.run_id === null || isWaiting ? undefined : Math.min(expiryMs(lease, nowMs), nowMs);
}

interface ExecutionLease {
  readonly version: string;
  readonly lease: LeaseFile;
}

/** Undefined where the lease is not, or no longer, this execution's. */
export async function readExecutionLease(
  store: AccountStore,
  execution: string,
): Promise<ExecutionLease | undefined> {
  const stored = await readLease(store);
  if (stored?.lease === undefined || executionOf(stored.lease) !== execution) return undefined;
  return { version: stored.version, lease: stored.lease };
}

/**
 * Compare-and-swap: false where the lease was written since it was read. The budget's use stays in it, with what is
 * assumed of a process that died.
 */
export async function freeLease(
  { store, clock }: Pick<RunPorts, "store" | "clock">,
  settings: RunSettings,
  own: ExecutionLease,
): Promise<boolean> {
  const nowMs = clock.now();
  const { handed_over } = own.lease;
  const use = earlierUse(own, nowMs, settings);
  const free = encodeLease({ run_id: null, holder: null, handed_over, use }, nowMs);
  return (await store.replace(store.keys.lease, free, own.version)) !== undefined;
}
