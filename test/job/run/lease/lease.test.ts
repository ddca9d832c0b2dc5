import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
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

  test("informs its owner when another process has taken it", async () => {
    const account = new Account();
    const lease = await account.held("a", "run-1");

    account.leave("b", "run-2");
    await delay(50);

    expect(lease.lost.reason).toMatchObject({ name: "LeaseLost", takenBy: "run-2" });
    await lease.release();
    expect(account.lease().run_id).toBe("run-2");
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
