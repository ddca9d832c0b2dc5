// What `accounts/<account>/lease.json` says: who works on the account, until when, and the budget used of late.

import { z } from "zod";

/** A process that may hold a lease. `host` and `pid` only where a living process can be told from a dead one. */
const holderSchema = z.object({
  token: z.string(),
  host: z.string().optional(),
  pid: z.number().int().optional(),
});
export type Holder = Readonly<z.infer<typeof holderSchema>>;

export const leaseSchema = z.object({
  run_id: z.string().nullable(),
  holder: holderSchema.nullable(),
  renewed_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** The requests and bytes of the last window, so that the next start does not exceed the limit. */
  use: z.array(z.object({ atMs: z.number(), requests: z.number(), bytes: z.number() })),
});
export type LeaseFile = Readonly<z.infer<typeof leaseSchema>>;

/** True while a run that is not known to be dead holds it. */
export function isHeld(lease: LeaseFile, nowMs: number): boolean {
  return lease.run_id !== null && Date.parse(lease.expires_at) > nowMs;
}
