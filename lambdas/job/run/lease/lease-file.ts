// `accounts/<account>/lease.json`: which process or execution works on the account, on what, until when, and the recent
// use of the budget.

import * as z from "zod";
import { isDamage } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { UNRECORDED_MS } from "../../service/rate-limit/rate-limiter.ts";
import type { Usage } from "../../service/rate-limit/usage-window.ts";
import { allowance, type Limit, type Limits, windowMsOf } from "../../settings/values.ts";
import { type AccountStore, jsonBytes, parseJson } from "../../storage/store.ts";
import type { RunSettings } from "../run-settings.ts";

/** A lease that has not been renewed for so long is free. */
export const EXPIRY_MS = 60_000;

/** A process that may hold a lease. Only the token is always there: the rest needs a system that shows whether a process lives. */
const holderSchema = z.object({
  token: z.string(),
  host: z.string().optional(),
  pid: z.int().optional(),
  boot_id: z.string().optional(),
  pid_namespace: z.string().optional(),
  /** When the process started, in clock ticks since the boot. */
  start_ticks: z.string().optional(),
});
export type Holder = Readonly<z.infer<typeof holderSchema>>;

/** Unknown keys, written by a later version, are no damage. */
const leaseSchema = z.object({
  run_id: z.string().nullable(),
  holder: holderSchema.nullable(),
  renewed_at: z.iso.datetime(),
  /** Null for the lease of an execution, which does not expire: whether the execution has ended can be asked. */
  expires_at: z.iso.datetime().nullable(),
  /** The ARN of the execution that the run was handed over to. */
  execution: z.string().optional(),
  /** The last hand-over: each one of a run has a number of its own. */
  handed_over: z.object({ run_id: z.string(), n: z.int().positive() }).optional(),
  /** The last start by hand on a platform that may deliver one twice: its request, and its run. */
  started: z.object({ request_id: z.string(), run_id: z.string() }).optional(),
  /** The requests and bytes of the last window, so that the next start does not exceed the limit. */
  use: z.array(z.object({ atMs: z.number(), requests: z.number().min(0), bytes: z.number().min(0) })),
  /** From when on `use` is complete. Absent in leases of versions before the first release. */
  use_since: z.iso.datetime().optional(),
});
export type LeaseFile = Readonly<z.infer<typeof leaseSchema>>;

/** What a lease says beside its dates. */
export interface LeaseFacts {
  /** Null for a free lease. */
  readonly run_id: string | null;
  /** The process that works, or has freed the lease; null where an execution waits. */
  readonly holder: Holder | null;
  readonly execution?: string | undefined;
  readonly handed_over?: LeaseFile["handed_over"];
  readonly started?: LeaseFile["started"];
  readonly use: readonly Usage[];
  /** The time in milliseconds for which `use` is complete. */
  readonly windowMs: number;
}

interface StoredLease {
  readonly version: string;
  /** Undefined where the file is damaged; it is then written again. */
  readonly lease: LeaseFile | undefined;
}

export async function readLease(store: AccountStore): Promise<StoredLease | undefined> {
  const key = store.keys.lease;
  const stored = await store.read(key);
  if (stored === undefined) return undefined;
  try {
    return { version: stored.version, lease: parseJson(stored.bytes, key, leaseSchema) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { version: stored.version, lease: undefined };
  }
}

/** The run that this request has started before, where no other start by hand has followed. */
export async function runOfRequest(store: AccountStore, requestId?: string): Promise<string | undefined> {
  if (requestId === undefined) return undefined;
  const started = (await readLease(store))?.lease?.started;
  return started?.request_id === requestId ? started.run_id : undefined;
}

/** The lease as it is written at this moment. */
export function encodeLease(
  { run_id, holder, execution, handed_over, started, use, windowMs }: LeaseFacts,
  nowMs: number,
): Uint8Array {
  const at = (ms: number): string => new Date(ms).toISOString();
  const expires_at = execution === undefined ? at(run_id === null ? nowMs : nowMs + EXPIRY_MS) : null;
  const dates = { renewed_at: at(nowMs), expires_at };
  const used = { use: inEntries(use, windowMs, nowMs), use_since: at(nowMs - windowMs) };
  // A fact that is undefined is left out.
  return jsonBytes({ run_id, holder, ...dates, execution, handed_over, started, ...used });
}

/** So many entries say what was used within a window, at most. */
const ENTRIES = 6;

/**
 * Each entry sums a stretch of time, at the latest instant used in it: so nothing counts for too short, and as the
 * stretches do not move, nothing that each start hands on counts for ever.
 */
function inEntries(use: readonly Usage[], windowMs: number, nowMs: number): readonly Usage[] {
  // A window reaches into one stretch more than it is long.
  const stretchMs = Math.ceil((windowMs + 1) / (ENTRIES - 1));
  const entries = new Map<number, Usage>();
  for (const { atMs, requests, bytes } of use) {
    if (atMs < nowMs - windowMs) continue;
    const stretch = Math.floor(atMs / stretchMs);
    const last = entries.get(stretch) ?? { atMs, requests: 0, bytes: 0 };
    entries.set(stretch, {
      atMs: Math.max(atMs, last.atMs),
      requests: requests + last.requests,
      bytes: bytes + last.bytes,
    });
  }
  return [...entries.values()];
}

/** The ARN of the execution that has the lease. No other form of a lease never expires. */
export function executionOf({ run_id, execution, expires_at }: LeaseFile): string | undefined {
  return run_id !== null && expires_at === null ? execution : undefined;
}

/** The last part of an execution's ARN. */
export function nameOfExecution(arn: string): string {
  return arn.slice(arn.lastIndexOf(":") + 1);
}

/**
 * When it expires unless it is renewed, in milliseconds since the Unix epoch: what the file says, but never later than
 * a process that renews it now would write. The lease of an execution does not expire: then when that of its process would.
 */
export function expiryMs({ expires_at, renewed_at }: LeaseFile, nowMs: number): number {
  const latestMs = Math.min(Date.parse(renewed_at), nowMs) + EXPIRY_MS;
  return expires_at === null ? latestMs : Math.min(Date.parse(expires_at), latestMs);
}

/** The lease as if all of it had happened so much later: the clock of its computer may be behind. */
export function laterBy(lease: LeaseFile, ms: number): LeaseFile {
  const later = (instant: string): string => new Date(Date.parse(instant) + ms).toISOString();
  return {
    ...lease,
    renewed_at: later(lease.renewed_at),
    expires_at: lease.expires_at && later(lease.expires_at),
    use: lease.use.map((use) => ({ ...use, atMs: use.atMs + ms })),
    use_since: lease.use_since && later(lease.use_since),
  };
}

/** Who works on the account, on what and until when. */
export interface HeldLease {
  /** A run's id, or the name of a command. */
  readonly run_id: string;
  /** Null where an execution has the lease. */
  readonly expires_at: string | null;
  /** The ARN of the execution that the run was handed over to. */
  readonly execution?: string;
}

/** Undefined for a lease that is free, as far as the file shows. */
export function heldLease(lease: LeaseFile, nowMs: number): HeldLease | undefined {
  const { run_id } = lease;
  if (run_id === null) return undefined;
  const execution = executionOf(lease);
  if (execution !== undefined) return { run_id, expires_at: null, execution };
  const endMs = expiryMs(lease, nowMs);
  return endMs > nowMs ? { run_id, expires_at: new Date(endMs).toISOString() } : undefined;
}

/** For how long the use of the budget was known when the lease was renewed; 0 where the file is damaged, or there is none. */
export function knownMs(lease: LeaseFile | undefined): number {
  return lease?.use_since ? Date.parse(lease.renewed_at) - Date.parse(lease.use_since) : 0;
}

/**
 * What earlier holders of a lease have used of the budget, as far as it is known, and at most where it is not.
 * @param nowMs milliseconds since the Unix epoch
 */
export function earlierUse(
  stored: Pick<StoredLease, "lease"> | undefined,
  nowMs: number,
  limits: Limits,
): readonly Usage[] {
  if (stored === undefined) return [];
  const { lease } = stored;
  const windowMs = windowMsOf(limits);
  const renewedAtMs = lease ? Date.parse(lease.renewed_at) : nowMs;
  const sinceMs = renewedAtMs - knownMs(lease);
  const most = (ms: number): Omit<Usage, "atMs"> => {
    const of = (limit: Limit): number => (limit === "unlimited" ? 0 : allowance(limit, ms, 1));
    return { requests: of(limits.requestsPerMinute), bytes: of(limits.bytesPerMinute) };
  };
  // Of a file that is damaged, or a window that was shorter: all that was allowed, as late as possible.
  const unknownMs = sinceMs - (Math.max(nowMs, renewedAtMs) - windowMs);
  const unknown = unknownMs > 0 ? [{ atMs: sinceMs, ...most(unknownMs) }] : [];
  if (lease === undefined) return unknown;
  const crashedAtMs = endOfUncounted(lease, nowMs);
  if (crashedAtMs === undefined) return [...unknown, ...lease.use];
  // The service may have counted what was in flight at the last renewal as late as the crash.
  const known = lease.use.map((use) =>
    use.atMs >= crashedAtMs - EXPIRY_MS ? { ...use, atMs: Math.max(use.atMs, crashedAtMs) } : use,
  );
  return [...unknown, ...known, { atMs: crashedAtMs, ...most(Math.min(UNRECORDED_MS, windowMs)) }];
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
  { store, clock }: { readonly store: AccountStore; readonly clock: Clock },
  settings: RunSettings,
  own: ExecutionLease,
): Promise<boolean> {
  const nowMs = clock.now();
  const { handed_over, started } = own.lease;
  const use = earlierUse(own, nowMs, settings);
  const windowMs = windowMsOf(settings);
  const free = encodeLease({ run_id: null, holder: null, handed_over, started, use, windowMs }, nowMs);
  return (await store.replace(store.keys.lease, free, own.version)) !== undefined;
}
