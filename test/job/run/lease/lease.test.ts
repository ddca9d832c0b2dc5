import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { Account, KEY } from "./lease-world.ts";

describe("a lease that is held", () => {
  test("is renewed while its run works, so that no other process takes it", async () => {
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

  test("says since when its use is complete: an hour, and a minute where an earlier version wrote it", async () => {
    const account = new Account();
    const first = await account.held("a", "run-1");
    await first.release();
    const releasedAtMs = account.clock.now();

    const second = await account.held("b", "run-2");
    await second.release();
    const { use_since, ...old } = account.lease();
    account.store.put(KEY, JSON.stringify({ ...old, renewed_at: "2026-01-01T00:10:00.000Z" }));
    const third = await account.held("c", "run-3");

    expect(first.knownSinceMs).toBe(Number.NEGATIVE_INFINITY);
    expect(second.knownSinceMs).toBeLessThanOrEqual(releasedAtMs - 3_600_000);
    expect(second.knownSinceMs).toBeGreaterThan(releasedAtMs - 3_660_000);
    expect(third.knownSinceMs).toBe(Date.parse("2026-01-01T00:09:00.000Z"));
    await third.release();
  });

  test("records the use of the budget at once, and never an older one over a newer one", async () => {
    const account = new Account(1);
    const lease = await account.held("a", "run-1");
    let requests = 0;
    lease.carry(() => [{ atMs: 0, requests, bytes: 0 }]);

    const recorded = Array.from({ length: 5 }, () => {
      requests += 1;
      return lease.record();
    });
    await Promise.all(recorded);

    expect(account.lease().use).toMatchObject([{ requests: 5 }]);
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
    await lease.record();
    expect(account.lease().run_id).toBeNull();
  });

  test("informs its owner when another process has taken it", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");

    account.leave("b", "run-2");
    await delay(50);

    expect(lease.lost.reason).toMatchObject({ name: "LeaseLost", takenBy: "run-2" });
    await lease.release();
    expect(account.lease().run_id).toBe("run-2");
  });

  test.each([
    ["handed over", (lease: Lease) => lease.handOver("arn", 1)],
    ["left to its execution", (lease: Lease) => lease.leave()],
  ])("is not %s after another process has taken it", async (_, passOn) => {
    const account = new Account(1);
    const lease = await account.held("a", "run-1");
    account.leave("b", "run-2");

    await expect(passOn(lease)).rejects.toMatchObject({ name: "LeaseLost", takenBy: "run-2" });

    await lease.release();
    expect(account.lease()).toMatchObject({ run_id: "run-2", holder: { token: "b" } });
  });

  test("stays its owner's when only the response to its own write was lost", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");
    account.store.put(KEY, JSON.stringify({ ...account.lease(), use: [] }).concat("\n\n"));

    await lease.adopt("run-0");

    expect(lease.lost.aborted).toBe(false);
    expect(account.lease().run_id).toBe("run-0");
    await lease.release();
  });

  test("stays its owner's when its file is damaged meanwhile", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");
    account.store.put(KEY, "{");

    await lease.adopt("run-0");

    expect(lease.lost.aborted).toBe(false);
    expect(account.lease().run_id).toBe("run-0");
    await lease.release();
  });
});
