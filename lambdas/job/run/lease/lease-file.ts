// `accounts/<account>/lease.json`: which process or execution works on the account, until when, and the recent use of
// the budget.

import * as z from "zod";
import { isDamage } from "../../errors/sync-error.ts";
import type { RateLimiterUsage } from "../../service/rate-limit/rate-limiter.ts";
import { REMEMBERED_MS } from "../../service/rate-limit/usage-window.ts";
import { parseJson } from "../../storage/json-object.ts";
import type { AccountStore } from "../../storage/store.ts";

/** A lease that has not been renewed for so long is free. */
export const EXPIRY_MS = 60_000;

/** The window of versions that did not write `use_since`. */
const OLD_WINDOW_MS = 60_000;

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
  execution: z.string().nullish(),
  /** The last hand-over: each one of a run has a number of its own. */
  handed_over: z.object({ run_id: z.string(), n: z.int().positive() }).nullish(),
  /** The requests and bytes of the last hour, so that the next start does not exceed the limit. */
  use: z.array(z.object({ atMs: z.number(), requests: z.number().min(0), bytes: z.number().min(0) })),
  /** From when on `use` is complete. Absent where an earlier version wrote it: a minute before `renewed_at`. */
  use_since: z.iso.datetime().optional(),
});
export type LeaseFile = Readonly<z.infer<typeof leaseSchema>>;
export type HandedOver = LeaseFile["handed_over"];

/** What a lease says beside its dates. */
export interface LeaseFacts {
  /** Null for a free lease. */
  readonly run_id: string | null;
  /** Null where no process works, although an execution may have the lease. */
  readonly holder: Holder | null;
  readonly execution?: string | undefined;
  readonly handed_over?: HandedOver;
  readonly use: RateLimiterUsage;
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

/** As it is written at this moment. */
export function leaseOf(
  { run_id, holder, execution, handed_over, use }: LeaseFacts,
  nowMs: number,
): LeaseFile {
  const at = (ms: number): string => new Date(ms).toISOString();
  const expires_at = execution === undefined ? at(run_id === null ? nowMs : nowMs + EXPIRY_MS) : null;
  return {
    run_id,
    holder,
    renewed_at: at(nowMs),
    expires_at,
    ...(execution === undefined ? {} : { execution }),
    ...(handed_over ? { handed_over } : {}),
    use: [...use],
    use_since: at(nowMs - REMEMBERED_MS),
  };
}

/** From when on the use in it is complete, in milliseconds since the Unix epoch. */
export function knownSinceMs({ use_since, renewed_at }: LeaseFile): number {
  return use_since === undefined ? Date.parse(renewed_at) - OLD_WINDOW_MS : Date.parse(use_since);
}

export function encodeLease(lease: LeaseFile): Uint8Array {
  return Buffer.from(`${JSON.stringify(lease)}\n`);
}

/** The ARN of the execution that has the lease. No other form of a lease never expires. */
export function executionOf({ run_id, execution, expires_at }: LeaseFile): string | undefined {
  return run_id !== null && expires_at === null ? (execution ?? undefined) : undefined;
}

/**
 * When it expires unless it is renewed, in milliseconds since the Unix epoch: what the file says, but never later than
 * a process that renews it now would write. Not for the lease of an execution.
 */
export function expiryMs({ expires_at, renewed_at }: LeaseFile, nowMs: number): number {
  const latestMs = Math.min(Date.parse(renewed_at), nowMs) + EXPIRY_MS;
  return expires_at === null ? latestMs : Math.min(Date.parse(expires_at), latestMs);
}

/** True while a process or an execution has it, as far as the file shows. */
export function isHeld(lease: LeaseFile, nowMs: number): boolean {
  return lease.run_id !== null && (executionOf(lease) !== undefined || expiryMs(lease, nowMs) > nowMs);
}
