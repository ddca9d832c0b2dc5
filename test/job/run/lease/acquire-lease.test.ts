import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { Account, KEY } from "./lease-world.ts";

const FAR = "9999-12-31T23:59:59.000Z";

describe("the lease", () => {
  test("goes to one of two runs that start together; the other learns which run holds it", async () => {
    const account = new Account();

    const [one, two] = await Promise.all([account.acquire("a", "run-1"), account.acquire("b", "run-2")]);

    const taken = one instanceof Lease ? two : one;
    const winner = one instanceof Lease ? one : two;
    expect(taken).toMatchObject({ takenBy: one instanceof Lease ? "run-1" : "run-2" });
    if (winner instanceof Lease) await winner.release();
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

  test("is waited for by a trigger of its own run while it is not renewed", async () => {
    const account = new Account();
    account.leave("a", "run-1");

    const next = await account.acquire("b", "run-1", true);

    expect(next).toBeInstanceOf(Lease);
    if (next instanceof Lease) await next.release();
  });

  test("is not waited for by a trigger of its own run, once it is seen renewed", async () => {
    const account = new Account(100);
    const lease = await account.held("a", "run-1");

    const next = await account.acquire("b", "run-1", true);

    expect(next).toMatchObject({ takenBy: "run-1" });
    await lease.release();
  });

  test.each([
    { what: "empty", content: "" },
    { what: "cut", content: '{"run_id":"run-1","holder":{"tok' },
    { what: "not JSON", content: "\u0000\u0000\u0000" },
    { what: "not UTF-8", content: new Uint8Array([0xff, 0xfe]) },
    { what: "of another shape", content: '{"run_id":1}' },
    { what: "without sensible use", content: freeLease({ use: [{ atMs: 0, requests: -1e9, bytes: 0 }] }) },
  ])(
    "that is $what is written again, and nothing is known of the budget's use up to now",
    async ({ content }) => {
      const account = new Account();
      account.store.put(KEY, content);
      const before = account.clock.now();

      const lease = await account.held("a", "run-1");

      expect(account.lease().run_id).toBe("run-1");
      expect(lease.earlier).toEqual([]);
      expect(lease.knownSinceMs).toBeGreaterThanOrEqual(before);
      await lease.release();
    },
  );

  test("that a later version wrote, with keys of its own, is not damaged", async () => {
    const account = new Account();
    account.store.put(
      KEY,
      freeLease({ execution: null, use: [{ atMs: 5, requests: 1, bytes: 2, kind: "x" }] }),
    );

    const lease = await account.held("a", "run-1");

    expect(lease.earlier).toEqual([{ atMs: 5, requests: 1, bytes: 2 }]);
    expect(lease.crashedAtMs).toBeUndefined();
    await lease.release();
  });
});

describe("a lease that says that it expires in the year 9999", () => {
  test("is free a minute after it was renewed", async () => {
    const account = new Account(100);
    account.leave("a", "run-1", { expires_at: FAR });

    const atOnce = await account.acquire("b", "run-2");
    await delay(700);
    const later = await account.held("b", "run-2");

    expect(atOnce).toMatchObject({ takenBy: "run-1" });
    if (!(atOnce instanceof Lease)) {
      expect(Date.parse(atOnce.expiresAt ?? "")).toBeLessThanOrEqual(account.clock.now() + 60_000);
    }
    expect(later.earlier).toMatchObject([{ requests: 7 }]);
    await later.release();
  });

  test("is waited for no longer than a minute by a trigger of its own run", async () => {
    const account = new Account();
    account.leave("a", "run-1", { expires_at: FAR });

    const next = await account.acquire("b", "run-1", true);

    expect(next).toBeInstanceOf(Lease);
    if (next instanceof Lease) await next.release();
  });

  test("and that it was renewed then is watched for a minute, and is free if it does not change", async () => {
    const account = new Account();
    account.leave("a", "run-1", { renewed_at: FAR, expires_at: FAR });
    const before = account.clock.monotonicMs();

    const next = await account.held("b", "run-2");

    const waitedMs = account.clock.monotonicMs() - before;
    expect(waitedMs).toBeGreaterThanOrEqual(60_000);
    expect(next.crashedAtMs).toBeLessThanOrEqual(account.clock.now());
    await next.release();
  });

  test("and that it was renewed then is taken if it changes while it is watched", async () => {
    const account = new Account(100);
    account.leave("a", "run-1", { renewed_at: FAR, expires_at: FAR });

    const next = account.acquire("b", "run-2");
    await delay(100);
    account.leave("a", "run-1", { renewed_at: `${FAR.slice(0, -2)}9Z`, expires_at: FAR });

    expect(await next).toMatchObject({ takenBy: "run-1" });
  });
});

describe("the lease of a command", () => {
  test("is waited for by a run, though it is renewed meanwhile", async () => {
    const account = new Account(100);
    const check = await account.held("a", "check-2026-01-01T00-00-00.000Z");

    const run = account.acquire("b", "run-1");
    await delay(250);
    await check.release();

    const lease = await run;
    expect(lease).toBeInstanceOf(Lease);
    if (lease instanceof Lease) await lease.release();
  });

  test("is waited for no longer than a minute", async () => {
    const account = new Account(100);
    const discover = await account.held("a", "discover-2026-01-01T00-00-00.000Z");

    expect(await account.acquire("b", "run-1")).toMatchObject({
      takenBy: expect.stringContaining("discover-"),
    });
    await discover.release();
  });
});

function freeLease(changes: object): string {
  const at = "2026-01-01T00:00:00.000Z";
  return JSON.stringify({ run_id: null, holder: null, renewed_at: at, expires_at: at, use: [], ...changes });
}
