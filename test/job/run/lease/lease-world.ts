// One account, and as many processes as a test wants.

import {
  type AcquireOptions,
  acquireLease,
  type LeaseTaken,
} from "../../../../lambdas/job/run/lease/acquire-lease.ts";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import type { Holder } from "../../../../lambdas/job/run/lease/lease-file.ts";
import type { Clock } from "../../../../lambdas/job/runtime/clock.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

export const KEY = "accounts/uk/lease.json";
const signal = new AbortController().signal;

/** A minute lasts 60 ms, or longer if a test needs it. */
export class Account {
  readonly clock: Clock;
  readonly store: MemoryStore;
  readonly dead = new Set<string>();

  constructor(speed = 1_000) {
    this.clock = acceleratedClock(speed);
    this.store = new MemoryStore(this.clock);
  }

  options(token: string): AcquireOptions {
    return {
      store: accountStore(this.store, "uk"),
      clock: this.clock,
      logger: new LogLines(),
      holder: { token },
      isGone: (holder: Holder) => this.dead.has(holder.token),
    };
  }

  acquire(token: string, runId: string, waitForOwnRun = false): Promise<Lease | LeaseTaken> {
    return acquireLease(this.options(token), { runId, waitForOwnRun, waitForCommand: true, signal });
  }

  ofExecution(token: string, runId: string, execution: string): Promise<Lease | LeaseTaken> {
    const request = { runId, execution, waitForOwnRun: false, waitForCommand: true, signal };
    return acquireLease(this.options(token), request);
  }

  async held(token: string, runId: string): Promise<Lease> {
    const lease = await this.acquire(token, runId);
    if (!(lease instanceof Lease)) throw new Error("the lease is taken");
    return lease;
  }

  /** What a process that was killed at once leaves: a lease that is not renewed. */
  leave(token: string, runId: string, changes: object = {}): void {
    const now = this.clock.now();
    const renewed_at = new Date(now).toISOString();
    const expires_at = new Date(now + 60_000).toISOString();
    const use = [{ atMs: now, requests: 7, bytes: 70 }];
    const lease = { run_id: runId, holder: { token }, renewed_at, expires_at, use, ...changes };
    this.store.put(KEY, JSON.stringify(lease));
  }

  lease(): { run_id: string | null; expires_at: string; use: unknown; use_since?: string } {
    return JSON.parse(this.store.text(KEY) ?? "null");
  }
}
