// `accounts/<account>/lease.json`: which process works on the account, until when, and the recent use of the budget.

import { z } from "zod";
import { isDamage } from "../../errors/is-damage.ts";
import type { RateLimiterUsage } from "../../service/rate-limit/rate-limiter.ts";
import { parseJson } from "../../storage/json-object.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";

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
  expires_at: z.iso.datetime(),
  /** The requests and bytes of the last window, so that the next start does not exceed the limit. */
  use: z.array(z.object({ atMs: z.number(), requests: z.number().min(0), bytes: z.number().min(0) })),
});
export type LeaseFile = Readonly<z.infer<typeof leaseSchema>>;

export interface StoredLease {
  readonly version: string;
  /** Undefined where the file is damaged; it is then written again. */
  readonly lease: LeaseFile | undefined;
}

export async function readLease(store: Store, account: string): Promise<StoredLease | undefined> {
  const key = layout.lease(account);
  const stored = await store.read(key);
  if (stored === undefined) return undefined;
  try {
    return { version: stored.version, lease: parseJson(stored.bytes, key, leaseSchema) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { version: stored.version, lease: undefined };
  }
}

export function leaseOf(runId: string, holder: Holder, nowMs: number, use: RateLimiterUsage): LeaseFile {
  return {
    run_id: runId,
    holder,
    renewed_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + EXPIRY_MS).toISOString(),
    use: [...use],
  };
}

export function encodeLease(lease: LeaseFile): Uint8Array {
  return Buffer.from(`${JSON.stringify(lease)}\n`);
}

/**
 * When it expires unless it is renewed, in milliseconds since the Unix epoch: what the file says, but never later than
 * a process that renews it now would write.
 */
export function expiryMs({ expires_at, renewed_at }: LeaseFile, nowMs: number): number {
  return Math.min(Date.parse(expires_at), Date.parse(renewed_at) + EXPIRY_MS, nowMs + EXPIRY_MS);
}

/** True while a process holds it, as far as the file shows. */
export function isHeld(lease: LeaseFile, nowMs: number): boolean {
  return lease.run_id !== null && expiryMs(lease, nowMs) > nowMs;
}
