import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { acquireLease, Lease, type LeaseOptions, type LeaseTaken } from "../../lambdas/run/lease.ts";
import type { Holder } from "../../lambdas/run/lease-file.ts";
import { LogLines } from "../host/log-lines.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import { MemoryStore } from "../storage/memory-store.ts";

const KEY = "accounts/uk/lease.json";
const signal = new AbortController().signal;

/** One account, and as many processes as a test wants; a minute lasts 60 ms. */
class Account {
  readonly clock = acceleratedClock(1_000);
  readonly store = new MemoryStore(this.clock);
  readonly dead = new Set<string>();

  options(token: string): LeaseOptions {
    return {
      store: this.store,
      account: "uk",
      clock: this.clock,
      logger: new LogLines(),
      holder: { token },
      isGone: (holder: Holder) => this.dead.has(holder.token),
    };
  }

  acquire(token: string, runId: string, waitForOwnRun = false): Promise<Lease | LeaseTaken> {
    return acquireLease(this.options(token), { runId, waitForOwnRun, signal });
  }

  async held(token: string, runId: string): Promise<Lease> {
    const lease = await this.acquire(token, runId);
    if (!(lease instanceof Lease)) throw new Error("the lease is taken");
    return lease;
  }

  /** What a process that was killed at once leaves: a lease that nobody renews. */
  leave(token: string, runId: string): void {
    const now = this.clock.now();
    const renewed_at = new Date(now).toISOString();
    const expires_at = new Date(now + 60_000).toISOString();
    const use = [{ atMs: now, requests: 7, bytes: 70 }];
    this.store.put(KEY, JSON.stringify({ run_id: runId, holder: { token }, renewed_at, expires_at, use }));
  }

  lease(): { run_id: string | null; expires_at: string; use: unknown } {
    return JSON.parse(this.store.text(KEY) ?? "null");
  }
}

describe("the lease", () => {
  test("goes to one of two runs that start together, and tells the other who has it", async () => {
    const account = new Account();

    const [one, two] = await Promise.all([account.acquire("a", "run-1"), account.acquire("b", "run-2")]);

    const taken = one instanceof Lease ? two : one;
    const winner = one instanceof Lease ? one : two;
    expect(taken).toMatchObject({ takenBy: one instanceof Lease ? "run-1" : "run-2" });
    if (winner instanceof Lease) await winner.release();
  });

  test("is renewed while its run works, so that nobody takes it", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");
    const first = account.lease().expires_at;

    await delay(150);
    const other = await account.acquire("b", "run-2");

    expect(account.lease().expires_at > first).toBe(true);
    expect(other).toMatchObject({ takenBy: "run-1" });
    await lease.release();
  });

  test("is free once it is released, with the budget's use in it", async () => {
    const account = new Account();
    const use = [{ atMs: account.clock.now(), requests: 12, bytes: 3_400 }];
    const lease = await account.held("a", "run-1");
    lease.carry(() => use);
    await lease.release();

    const next = await account.held("b", "run-2");

    expect(next.earlier).toEqual(use);
    expect(next.crashedAtMs).toBeUndefined();
    await next.release();
  });

  test("is taken over when it has expired, and the new owner knows that its last use is not all", async () => {
    const account = new Account();
    account.leave("a", "run-1");
    const leftAtMs = account.clock.now();
    await delay(70);

    const next = await account.held("b", "run-2");

    expect(next.earlier).toMatchObject([{ requests: 7, bytes: 70 }]);
    expect(next.crashedAtMs).toBeGreaterThan(leftAtMs);
    expect(next.crashedAtMs).toBeLessThanOrEqual(leftAtMs + 20_000);
    await next.release();
  });

  test("is taken over at once from a process that no longer exists", async () => {
    const account = new Account();
    account.leave("a", "run-1");
    account.dead.add("a");

    const next = await account.acquire("b", "run-2");

    expect(next).toBeInstanceOf(Lease);
    if (next instanceof Lease) await next.release();
  });

  test("is waited for by a trigger of its own run, when nobody renews it", async () => {
    const account = new Account();
    account.leave("a", "run-1");

    const next = await account.acquire("b", "run-1", true);

    expect(next).toBeInstanceOf(Lease);
    if (next instanceof Lease) await next.release();
  });

  test("is not waited for by a trigger of its own run, once it is seen renewed", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");

    const next = await account.acquire("b", "run-1", true);

    expect(next).toMatchObject({ takenBy: "run-1" });
    await lease.release();
  });

  test("tells its owner when another process has taken it", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");

    account.leave("b", "run-2");
    await delay(50);

    expect(lease.lost.reason).toMatchObject({ name: "LeaseLost", takenBy: "run-2" });
    await lease.release();
    expect(account.lease().run_id).toBe("run-2");
  });

  test("stays its owner's when only the answer to a write of its own was lost", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");
    account.store.put(KEY, JSON.stringify({ ...account.lease(), use: [] }).concat("\n\n"));

    await lease.adopt("run-0");

    expect(lease.lost.aborted).toBe(false);
    expect(account.lease().run_id).toBe("run-0");
    await lease.release();
  });

  test("that is damaged is an error that names the file", async () => {
    const account = new Account();
    account.store.put(KEY, "{");

    await expect(account.acquire("a", "run-1")).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(KEY),
    });
  });
});
