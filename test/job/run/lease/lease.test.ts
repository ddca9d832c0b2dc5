import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { settled } from "../../../simulator/manual-clock.ts";
import { Account, crashedAtMs, KEY, takenBy } from "./lease-world.ts";

let account: Account;
const nothing = (): void => undefined;

beforeEach(() => {
  account = new Account();
});

describe("a lease that is held", () => {
  test("is renewed while its run works, so that no other process takes it", async () => {
    await account.held("a", "run-1");

    await account.pass(150_000);
    const other = await account.acquire("b", "run-2");

    expect(account.lease().expires_at).toBe("2026-01-01T00:03:20.000Z");
    expect(other).toMatchObject(takenBy("The run run-1"));
  });

  test("lasts from when its first write was sent: a process that was stopped at it has to ask again", async () => {
    const before = await account.held("a", "run-1");
    await before.release();
    account.beforeWrite = () => account.clock.advance(60_000);

    const lease = await account.held("b", "run-2");

    expect(lease.isOverdue).toBe(true);
    account.beforeWrite = () => undefined;
  });

  test.each([
    // And renewed, which was due by then.
    ["once", 59_999, 2],
    ["again where its process was stopped at the write for so long that it may have expired", 60_000, 3],
  ])("is confirmed %s", async (_, stoppedMs, writes) => {
    const lease = await account.held("a", "run-1");
    account.calls.length = 0;
    account.beforeWrite = () => {
      if (account.calls.length === 1) account.clock.advance(stoppedMs);
    };

    await lease.confirm();

    expect(account.calls).toEqual(Array(writes).fill("replace"));
    expect(lease.isOverdue).toBe(false);
  });

  test("has missed a renewal twenty seconds after the one that was due", async () => {
    const lease = await account.held("a", "run-1");
    account.beforeWrite = () => new Promise(() => undefined);

    account.clock.advance(39_999);
    const before = lease.isRenewalOverdue;
    account.clock.advance(1);

    expect([before, lease.isRenewalOverdue]).toEqual([false, true]);
  });

  test("of an execution is never overdue: no other process takes it before the execution has ended", async () => {
    const lease = await account.held("a", "run-1", { execution: "arn" });

    account.clock.advance(60_000);

    expect(lease.isOverdue).toBe(false);
  });

  test("is renewed by one write, without a reading, and not again before that write ended", async () => {
    await account.held("a", "run-1");
    account.calls.length = 0;

    await account.pass(59_000);
    expect(account.calls).toEqual(["replace", "replace"]);
    const stalled = Promise.withResolvers<void>();
    account.beforeWrite = () => stalled.promise;
    await account.pass(300_000);
    stalled.resolve();
    await settled();

    expect(account.calls).toEqual(["replace", "replace", "replace"]);
  });

  test("is free once it is released, with the budget's use in it", async () => {
    const use = [{ atMs: account.clock.now(), requests: 12, bytes: 3_400 }];
    const lease = await account.held("a", "run-1");
    lease.carry(() => use, nothing);
    await lease.release();

    const next = await account.held("b", "run-2");

    expect(next.earlier).toEqual(use);
    expect(crashedAtMs(next)).toBeUndefined();
  });

  test("says since when its use is complete: for a window", async () => {
    const lease = await account.held("a", "run-1");
    await lease.release();

    expect(account.lease().use_since).toBe("2025-12-31T23:59:00.000Z");
  });

  test("of a command that knows no limits says of the use what was found", async () => {
    const lease = await account.held("a", "run-1");
    const found = [{ atMs: account.clock.now(), requests: 12, bytes: 3_400 }];
    lease.carry(() => found, nothing);
    await lease.release();
    const before = account.lease();

    await account.held("b", "remove-1", { limits: undefined });

    const { use, use_since } = account.lease();
    expect({ use, use_since }).toEqual({ use: before.use, use_since: before.use_since });
  });

  test("records the use of the budget at once, and never an older one over a newer one", async () => {
    const lease = await account.held("a", "run-1");
    let requests = 1;
    lease.carry(() => [{ atMs: account.clock.now(), requests, bytes: 0 }], nothing);

    const stalled = Promise.withResolvers<void>();
    account.beforeWrite = () => stalled.promise;
    const older = lease.record();
    await settled();
    account.beforeWrite = () => undefined;
    requests = 2;
    const newer = lease.record();
    await settled();
    stalled.resolve();
    await Promise.all([older, newer]);
    expect(account.lease().use).toMatchObject([{ requests: 2 }]);

    requests = 3;
    await lease.record();
    expect(account.lease().use).toMatchObject([{ requests: 3 }]);
    await lease.release();
    await lease.record();
    expect(account.lease().run_id).toBeNull();
  });

  test("says of no use that it was before the instant of the writing", async () => {
    const lease = await account.held("a", "run-1");
    const use = () => {
      account.clock.advance(1);
      return [{ atMs: account.clock.now(), requests: 1, bytes: 0 }];
    };
    lease.carry(use, nothing);

    await lease.record();

    expect(account.lease()).toMatchObject({
      renewed_at: "2026-01-01T00:00:00.000Z",
      use: [{ atMs: Date.UTC(2026, 0, 1, 0, 0, 0, 1) }],
    });
  });

  test.each([
    ["recorded", (lease: Lease) => lease.record()],
    ["released", (lease: Lease) => lease.release()],
  ])("is %s with no more than a warning where the store fails", async (_, write) => {
    const lease = await account.held("a", "run-1");
    account.beforeWrite = () => {
      throw new SyncError("STORE_FAILED", "The disk is full.");
    };

    await write(lease);

    expect(account.log.lines).toEqual([
      'warn the lease could not be written; it expires by itself {"run_id":"run-1"}',
    ]);
  });
});

describe("a lease that another process has taken", () => {
  test.each<[string, (account: Account) => unknown, string]>([
    [
      "is lost",
      (account) => account.leave("b", "run-2"),
      "Another process took over the lease of this account: the run run-2. Staged work is kept.",
    ],
    [
      "is lost where its file was deleted",
      ({ store }) => store.delete([KEY]),
      "Another process took over the lease of this account. Staged work is kept.",
    ],
  ])("%s, and its owner learns it", async (_, take, why) => {
    const lease = await account.held("a", "run-1");

    await take(account);
    const left = account.store.text(KEY);
    await account.pass(20_000);
    await settled();

    const next = ["Start again when that process has ended."];
    expect(lease.lost.reason).toMatchObject({
      name: "StartSkipped",
      end: { outcome: "SKIPPED", reason: "LEASE_LOST", explanation: why, next },
    });
    await lease.release();
    expect(account.store.text(KEY)).toBe(left);
  });

  test("is lost where that happens while it is written", async () => {
    const lease = await account.held("a", "run-1");
    account.store.put(KEY, "{");
    account.calls.length = 0;
    account.beforeWrite = () => {
      if (account.calls.join(" ") === "replace read replace") account.leave("b", "run-2");
    };

    await expect(lease.confirm()).rejects.toMatchObject({
      message: expect.stringContaining("this account. Staged"),
    });

    await lease.release();
    expect(account.lease()).toMatchObject({ run_id: "run-2", holder: { token: "b" } });
  });

  test("is lost where another process takes it while its own is stopped at the confirmation", async () => {
    const lease = await account.held("a", "run-1");
    account.calls.length = 0;
    account.beforeWrite = () => {
      if (account.calls.length === 1) account.clock.advance(60_000);
      else account.leave("b", "run-2");
    };

    await expect(lease.confirm()).rejects.toMatchObject({
      message: expect.stringContaining("this account: the run run-2. Staged"),
    });
  });

  test("is not written any more, whatever becomes of its file", async () => {
    const lease = await account.held("a", "run-1");
    account.leave("b", "run-2");
    await lease.record();
    account.store.put(KEY, "{");

    await lease.record();
    await lease.release();

    expect(account.store.text(KEY)).toBe("{");
  });

  test.each([
    ["handed over", (lease: Lease) => lease.handOver("arn", 1)],
    ["left to its execution", (lease: Lease) => lease.leave()],
  ])("is not %s", async (_, passOn) => {
    const lease = await account.held("a", "run-1");
    account.leave("b", "run-2");

    await expect(passOn(lease)).rejects.toMatchObject({
      message: expect.stringContaining("this account: the run run-2. Staged"),
    });

    await lease.release();
    expect(account.lease()).toMatchObject({ run_id: "run-2", holder: { token: "b" } });
  });
});

test.each<[string, (account: Account) => void]>([
  [
    "only the response to its own write was lost",
    (account) => account.store.put(KEY, JSON.stringify({ ...account.lease(), use: [] }).concat("\n\n")),
  ],
  ["its file is damaged meanwhile", ({ store }) => store.put(KEY, "{")],
])("a lease stays its owner's when %s", async (_, change) => {
  const lease = await account.held("a", "run-1");
  let written = 0;
  lease.carry(
    () => [],
    () => {
      written += 1;
    },
  );
  change(account);

  await lease.adopt("run-0");

  expect(lease.lost.aborted).toBe(false);
  expect(account.lease().run_id).toBe("run-0");
  expect(written).toBe(1);
});

test.each([
  [
    "handed over",
    undefined,
    { handed_over: { run_id: "run-1", n: 4 } },
    (lease: Lease) => lease.handOver("arn", 4),
  ],
  ["left to its execution", "arn", {}, (lease: Lease) => lease.leave()],
])("a lease that is %s stays as it was passed on", async (_, execution, more, passOn) => {
  const lease = await account.held("a", "run-1", { execution });
  expect([lease.execution, lease.isOverdue]).toEqual([execution, false]);

  await passOn(lease);
  const passed = account.lease();
  await account.pass(60_000);
  await lease.release();

  expect(passed).toMatchObject({
    run_id: "run-1",
    holder: null,
    execution: "arn",
    expires_at: null,
    ...more,
  });
  expect(account.lease()).toEqual(passed);
});
