// One account, and as many processes as a test wants. Time passes when a test says so.

import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import {
  type AcquirePorts,
  acquireLease,
  type LeaseRequest,
} from "../../../../lambdas/job/run/lease/acquire-lease.ts";
import type { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { type Skipped, StartSkipped } from "../../../../lambdas/job/run/record/run-result.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock, settled } from "../../../simulator/manual-clock.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { interposed } from "../interposed-store.ts";
import { hostWith, worldWith } from "../run-defaults.ts";

export const KEY = "accounts/uk/lease.json";

/** What a minute gives. */
const LIMITS = { requestsPerMinute: 100, bytesPerMinute: 1_000, windowMs: 60_000 };

/** No wait takes more steps. */
const MOST_STEPS = 100;

export class Account {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly store = new MemoryStore(this.clock);
  readonly log = new LogLines();
  readonly dead = new Set<string>();
  /** The computer of those that take the lease. */
  process: AcquirePorts["process"] = {};
  /** What a write waits for. It takes a turn of the event loop as well, as one over a network does. */
  beforeWrite: () => Promise<void> | void = () => undefined;
  /** Readings and writes of all processes. */
  readonly calls: string[] = [];

  ports(token: string): AcquirePorts {
    const { store } = this;
    const slow = {
      ...interposed(store),
      read: (key: string) => {
        this.calls.push("read");
        return store.read(key);
      },
      replace: async (key: string, bytes: Uint8Array, version: string) => {
        this.calls.push("replace");
        await setImmediate();
        await this.beforeWrite();
        return store.replace(key, bytes, version);
      },
    };
    return {
      ...worldWith({
        clock: this.clock,
        logger: this.log,
        random: { next: () => 0.5, token: () => token },
      }),
      ...hostWith({ process: this.process, isGone: (holder) => this.dead.has(holder.token) }),
      store: accountStore(slow, "uk"),
      catalog: new MemoryCatalog(store),
    };
  }

  /** The lease, or why it is not taken. */
  async acquire(
    token: string,
    runId: string,
    request: Omit<LeaseRequest, "runId"> = {},
  ): Promise<Lease | Skipped> {
    return acquireLease(this.ports(token), { runId, limits: LIMITS, ...request }).catch((error: unknown) => {
      if (error instanceof StartSkipped) return error.end;
      throw error;
    });
  }

  /** The lease, however long it has to be waited for. */
  async held(token: string, runId: string, request: Omit<LeaseRequest, "runId"> = {}): Promise<Lease> {
    const lease = await this.until(this.acquire(token, runId, request));
    if ("outcome" in lease) throw new Error("the lease is taken");
    return lease;
  }

  /** Time passes, and every process does meanwhile what it would. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms;
    await settled();
    for (let dueMs = this.clock.nextDueMs; dueMs !== undefined && dueMs <= untilMs; ) {
      this.clock.advance(dueMs - this.clock.monotonicMs());
      await settled();
      dueMs = this.clock.nextDueMs;
    }
    this.clock.advance(untilMs - this.clock.monotonicMs());
  }

  /** Time passes until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    work.then(end, end);
    await settled();
    for (let steps = 0; !isDone; steps += 1) {
      const { nextDueMs: dueMs } = this.clock;
      if (dueMs === undefined || steps === MOST_STEPS) throw new Error("it does not end");
      await this.pass(dueMs - this.clock.monotonicMs());
      await settled();
    }
    return work;
  }

  /** What a process that was killed at once leaves: a lease that is not renewed. */
  leave(token: string, runId: string, changes: object = {}): void {
    const now = this.clock.now();
    const renewed_at = new Date(now).toISOString();
    const expires_at = new Date(now + 60_000).toISOString();
    const use = [{ atMs: now, requests: 7, bytes: 70 }];
    const use_since = new Date(now - 3_600_000).toISOString();
    const lease = { run_id: runId, holder: { token }, renewed_at, expires_at, use, use_since, ...changes };
    this.store.put(KEY, JSON.stringify(lease));
  }

  lease(): { run_id: string | null; expires_at: string; use: unknown; use_since?: string } {
    return JSON.parse(this.store.text(KEY) ?? "null");
  }
}

/** @param why how the explanation begins: `The run run-1` */
export function takenBy(why: string): object {
  const explanation: unknown = expect.stringMatching(`^${why} `);
  return { outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation };
}

/** When a holder before may have sent what it did not count. */
export function crashedAtMs({ earlier }: Lease): number | undefined {
  const { requestsPerMinute: requests, bytesPerMinute: bytes } = LIMITS;
  return earlier.find((use) => use.requests === requests && use.bytes === bytes)?.atMs;
}

/** Of a process on another computer, which lives or has just crashed. */
export function livingLease(nowMs: number, changes: object = {}): string {
  const at = (ms: number): string => new Date(ms).toISOString();
  return JSON.stringify({
    run_id: "run-1",
    holder: { token: "another" },
    renewed_at: at(nowMs),
    expires_at: at(nowMs + 60_000),
    use: [],
    use_since: at(nowMs - 3_600_000),
    ...changes,
  });
}
