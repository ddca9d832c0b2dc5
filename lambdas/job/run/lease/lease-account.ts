// An account that this process works on: its lease, and the rate limiter whose usage the lease carries to the next start.

import { RateLimiter, type RateLimiterUsage, UNRECORDED_MS } from "../../service/rate-limit/rate-limiter.ts";
import { type Limit, windowAllowance } from "../../settings/limit.ts";
import type { AccountStore } from "../../storage/store.ts";
import { LoginWithheld, openAccount } from "../login/open-account.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import {
  commandOf,
  instantOf,
  Lease,
  type LeasedCommand,
  LeaseLost,
  type LeaseTaken,
  leaseNameOf,
  type Skipped,
  skippedAsLost,
  skippedAsTaken,
  workOf,
} from "./lease.ts";
import {
  EXPIRY_MS,
  encodeLease,
  executionOf,
  expiryMs,
  isHeld,
  knownSinceMs,
  type LeaseFile,
  leaseOf,
  readLease,
} from "./lease-file.ts";

export interface LeasedAccount {
  readonly lease: Lease;
  /** Knows what earlier holders used in the last window. The lease carries that usage also where nothing is sent. */
  readonly rateLimiter: RateLimiter;
}

export async function leaseAccount(
  ports: RunPorts,
  settings: RunSettings,
  request: LeaseRequest,
): Promise<LeasedAccount | LeaseTaken> {
  const lease = await acquireLease(ports, request);
  if (!(lease instanceof Lease)) return lease;
  const rateLimiter = unusedRateLimiter(ports, settings);
  const use = earlierUse(lease, ports.clock.now(), settings);
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
  /** Whether the execution that has the lease still works; without it that lease is always taken. */
  readonly askExecution?: ((execution: string) => Promise<"taken" | "free">) | undefined;
  /** A triggered start that finds its own run's lease waits until it expires, and gives up once it is renewed. */
  readonly waitForOwnRun?: boolean;
  /** A run that finds the lease of a command, which is brief, waits up to a minute for its end. */
  readonly waitForCommand?: boolean;
}

/** A reading of another process's lease. */
interface Sight {
  readonly version: string;
  readonly monotonicMs: number;
}

/**
 * Takes the account's lease if it is free, expired or damaged, or if its holder no longer exists or works for the same
 * execution; else says which run or command holds it.
 */
export async function acquireLease(ports: AcquirePorts, request: LeaseRequest): Promise<Lease | LeaseTaken> {
  const { store, clock, logger, isGone, signal } = ports;
  const { runId, execution } = request;
  const holder = { token: ports.random.token(), ...ports.process };
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
        await clock.sleep(Math.min(POLL_MS, leftMs + 1), signal);
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
    const options = { store, clock, logger, holder };
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
  { version, lease }: ExecutionLease,
): Promise<boolean> {
  const nowMs = clock.now();
  const crashedAtMs = endOfUncounted(lease, nowMs);
  const known = { earlier: lease.use, knownSinceMs: knownSinceMs(lease), crashedAtMs };
  const { handed_over } = lease;
  const use = earlierUse(known, nowMs, settings);
  const free = encodeLease(leaseOf({ run_id: null, holder: null, handed_over, use }, nowMs));
  return (await store.replace(store.keys.lease, free, version)) !== undefined;
}
