// Which lease is taken at once and which is not, and what is said of it.

import { beforeEach, describe, expect, test } from "vitest";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { endOfUncounted } from "../../../../lambdas/job/run/lease/lease-file.ts";
import { Account, crashedAtMs, KEY, takenBy } from "./lease-world.ts";

let account: Account;

beforeEach(() => {
  account = new Account();
});

const [OWN, OTHER] = ["own", "other"].map(
  (name) => `arn:aws:states:eu-west-1:123456789012:execution:sync:${name}`,
);

describe("the lease of an execution", () => {
  const isTaken = {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation:
      "The run run-1 of this account was handed over to the execution other of the state machine, and the lease is the execution's until it ends.",
    next: ["Start again when it has ended."],
  };

  test.each([
    ["goes to a process once the execution has ended", undefined, true, undefined],
    ["stays the execution's while that works", undefined, false, isTaken],
    ["stays the execution's where that cannot be asked", undefined, undefined, isTaken],
    ["goes to another execution only where it may", OWN, false, isTaken],
    ["goes to the same execution, whatever the answer", OTHER, false, undefined],
  ] as const)("%s", async (_, execution, answer, taken) => {
    account.leave("a", "run-1", { holder: null, expires_at: null, execution: OTHER });

    const mayTakeOver = answer === undefined ? undefined : async () => answer;
    const next = await account.acquire("b", "run-2", { execution, mayTakeOver });

    if (next instanceof Lease) await next.release();
    expect(next instanceof Lease ? undefined : next).toEqual(taken);
  });
});

describe("what a holder has not counted ends", () => {
  const NOW_MS = Date.UTC(2026, 0, 1);
  const lease = {
    run_id: "run-1",
    holder: { token: "a" },
    renewed_at: "2025-12-31T23:59:00.000Z",
    expires_at: "2026-01-01T00:00:00.000Z",
    use: [],
    use_since: "2025-12-31T22:59:00.000Z",
  };
  const ofExecution = { expires_at: null, execution: OTHER };

  test.each([
    ["never, where it freed the lease", { run_id: null }, undefined],
    ["when it expires", { renewed_at: "2025-12-31T23:58:00.000Z" }, NOW_MS - 60_000],
    [
      "when it says that it expires, where that is sooner",
      { expires_at: "2025-12-31T23:59:05.000Z" },
      NOW_MS - 55_000,
    ],
    [
      "now, at the latest",
      { renewed_at: "2025-12-31T23:59:59.000Z", expires_at: "2026-01-01T00:00:59.000Z" },
      NOW_MS,
    ],
    ["now, where no process is named", { holder: null }, NOW_MS],
    [
      "a minute after its last renewal, for an invocation",
      { ...ofExecution, renewed_at: "2025-12-31T23:58:30.000Z" },
      NOW_MS - 30_000,
    ],
    ["now, for an invocation that works", { ...ofExecution, renewed_at: "2025-12-31T23:59:59.000Z" }, NOW_MS],
    ["never, where an execution waits", { ...ofExecution, holder: null }, undefined],
  ])("%s", (_, over, endMs) => {
    expect(endOfUncounted({ ...lease, ...over }, NOW_MS)).toBe(endMs);
  });
});

test("a start that meets the lease of a process says until when that has it", async () => {
  account.leave("a", "2026-01-01T00-00-00.000Z");

  expect(await account.acquire("b", "run-2")).toEqual({
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation:
      "The run 2026-01-01T00-00-00.000Z works on this account; its lease lasts until 2026-01-01T00:01:00.000Z unless it is renewed.",
    next: ["Start again when it has ended."],
  });
});

const FAR = "9999-12-31T23:59:59.000Z";

describe("the lease", () => {
  test("goes to one of two runs that start together; the other learns which run holds it", async () => {
    const [one, two] = await Promise.all([account.acquire("a", "run-1"), account.acquire("b", "run-2")]);

    const taken = one instanceof Lease ? two : one;
    expect(taken).toMatchObject(takenBy(one instanceof Lease ? "The run run-1" : "The run run-2"));
  });

  test("is taken over when it has expired, and the new owner knows that its last use is not all", async () => {
    account.leave("a", "run-1");
    const leftAtMs = account.clock.now();
    await account.pass(59_999);
    const early = await account.acquire("b", "run-2");
    await account.pass(10 * 60_000 + 1);

    const next = await account.held("b", "run-2");

    expect(early).toMatchObject(takenBy("The run run-1"));
    expect(account.clock.now()).toBe(leftAtMs + 11 * 60_000);
    expect(next.earlier).toMatchObject([{ requests: 7, bytes: 70 }, { requests: 100 }]);
    expect(crashedAtMs(next)).toBe(leftAtMs + 60_000);
  });

  test("is taken over at once from a process that no longer exists", async () => {
    account.leave("a", "run-1");
    account.dead.add("a");

    const next = await account.acquire("b", "run-2");

    expect(next).toBeInstanceOf(Lease);
  });

  test("is waited for by a trigger of its own run while it is not renewed", async () => {
    account.leave("a", "run-1");

    const next = await account.held("b", "run-1", { waitForOwnRun: true });

    expect(crashedAtMs(next)).toBe(account.clock.now());
    expect(account.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 1));
  });

  test("is not waited for by a trigger of its own run, once it is seen renewed", async () => {
    await account.held("a", "run-1");

    const next = await account.until(account.acquire("b", "run-1", { waitForOwnRun: true }));

    expect(next).toMatchObject(takenBy("The run run-1"));
    expect(account.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 25));
  });

  test.each([
    ["another run", "run-2", { waitForOwnRun: true }, {}],
    ["a start of its own run that no trigger made", "run-1", {}, {}],
    ["a run, where no process is named", "run-2", {}, { holder: null }],
  ] as const)("is not waited for by %s", async (_, runId, request, changes) => {
    account.leave("a", "run-1", changes);

    expect(await account.acquire("b", runId, request)).toMatchObject(takenBy("The run run-1"));
    expect(account.clock.sleeping).toBe(0);
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
      account.store.put(KEY, content);

      const lease = await account.held("a", "run-1");

      expect(account.lease().run_id).toBe("run-1");
      expect(lease.earlier).toEqual([{ atMs: account.clock.now(), requests: 100, bytes: 1_000 }]);
      expect(account.log.lines).toEqual([`warn the file ${KEY} is damaged; it is written again {}`]);
      await lease.release();
    },
  );

  test("that a later version wrote, with keys of its own, is not damaged", async () => {
    account.store.put(
      KEY,
      freeLease({ of_a_later_version: 1, use: [{ atMs: 5, requests: 1, bytes: 2, kind: "x" }] }),
    );

    const lease = await account.held("a", "run-1");

    expect(lease.earlier).toEqual([{ atMs: 5, requests: 1, bytes: 2 }]);
    expect(account.log.lines).toEqual([]);
  });
});

describe("a lease that says that it expires in the year 9999", () => {
  test("is free a minute after it was renewed [D23]", async () => {
    account.leave("a", "run-1", { expires_at: FAR });

    const atOnce = await account.acquire("b", "run-2");
    await account.pass(60_000);
    const later = await account.held("b", "run-2");

    expect(atOnce).toMatchObject(takenBy("The run run-1 .* until 2026-01-01T00:01:00.000Z"));
    expect(later.earlier).toMatchObject([{ requests: 7 }, { requests: 100 }]);
  });

  test("is waited for no longer than a minute by a trigger of its own run", async () => {
    account.leave("a", "run-1", { expires_at: FAR });

    await account.held("b", "run-1", { waitForOwnRun: true });

    expect(account.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 1));
  });

  test("and that it was renewed then is watched for a minute, and is free if it does not change", async () => {
    account.leave("a", "run-1", { renewed_at: FAR, expires_at: FAR });
    const before = account.clock.monotonicMs();

    const next = await account.held("b", "run-2");

    const waitedMs = account.clock.monotonicMs() - before;
    expect(waitedMs).toBe(60_000);
    expect(crashedAtMs(next)).toBe(account.clock.now());
  });

  test("and that it was renewed then is taken if it changes while it is watched", async () => {
    account.leave("a", "run-1", { renewed_at: FAR, expires_at: FAR });

    const next = account.acquire("b", "run-2");
    await account.pass(10_000);
    account.leave("a", "run-1", { renewed_at: `${FAR.slice(0, -2)}9Z`, expires_at: FAR });

    expect(await account.until(next)).toMatchObject(takenBy("The run run-1"));
  });
});

describe("the lease of an execution", () => {
  const execution = "arn:aws:states:eu-west-1:1:execution:m:uk-20260101T000000000Z-1";
  const LONG_AGO = "2020-01-01T00:00:00.000Z";
  /** As it is while the execution waits. */
  const waiting = { renewed_at: LONG_AGO, expires_at: null, holder: null, execution };

  test("does not expire, and a process that is gone does not free it", async () => {
    account.leave("a", "run-1", { ...waiting, holder: { token: "a" } });
    account.dead.add("a");

    const other = await account.acquire("b", "run-1", { waitForOwnRun: true });

    expect(other).toMatchObject(takenBy("The run run-1 of this account was handed over"));
  });

  test("is taken by an invocation of the same execution, which does not set a date", async () => {
    account.leave("a", "run-1", waiting);

    const lease = await account.held("b", "run-1", { execution });

    expect(account.lease()).toMatchObject({ execution, expires_at: null, holder: { token: "b" } });
    expect(lease.earlier).toMatchObject([{ requests: 7, bytes: 70 }]);
    await lease.release();
    expect(account.lease()).toMatchObject({ run_id: null });
    expect(account.lease()).not.toHaveProperty("execution");
  });

  test("is taken from an invocation that was killed, and of which not all use is known", async () => {
    account.leave("a", "run-1", { ...waiting, holder: { token: "a" } });

    const lease = await account.held("b", "run-1", { execution });

    expect(crashedAtMs(lease)).toBe(Date.parse(LONG_AGO) + 60_000);
  });

  test("is lost by an older invocation once a newer one of the same execution works", async () => {
    const older = await account.acquire("a", "run-1", { execution });
    const newer = await account.acquire("b", "run-1", { execution });
    if (!(older instanceof Lease && newer instanceof Lease)) throw new Error("the lease is taken");

    await expect(older.confirm()).rejects.toMatchObject({ end: { reason: "LEASE_LOST" } });
    await older.release();
    await newer.confirm();

    expect(account.lease()).toMatchObject({ execution, holder: { token: "b" } });
  });

  test("keeps the number of the last hand-over for later runs of the same id, whichever run had it since", async () => {
    account.leave("a", "run-1", { ...waiting, run_id: null, handed_over: { run_id: "run-1", n: 3 } });

    const other = await account.held("b", "run-2");
    const first = other.nextHandOver;
    await other.release();
    const again = await account.held("c", "run-1");

    expect([first, again.nextHandOver]).toEqual([1, 4]);
  });
});

describe("the lease of another computer, whose clock may be ten minutes behind", () => {
  const MINUTES = [1, 5, 9.9].map((minutes) => ({ minutes, behindMs: minutes * 60_000 }));
  const behind = (account: Account, ms: number): object => {
    const at = (offsetMs: number): string => new Date(account.clock.now() - ms + offsetMs).toISOString();
    return {
      renewed_at: at(0),
      expires_at: at(60_000),
      use: [{ atMs: account.clock.now() - ms, requests: 7, bytes: 70 }],
      use_since: at(-3_600_000),
    };
  };

  test.each(MINUTES)("is not over while it changes [D23] ($minutes minutes)", async ({ behindMs }) => {
    account.leave("a", "run-1", behind(account, behindMs));

    const next = account.acquire("b", "run-2");
    await account.pass(15_000);
    account.leave("a", "run-1", behind(account, behindMs));

    expect(await account.until(next)).toMatchObject(takenBy("The run run-1"));
    expect(account.log.lines).toEqual(["info waits up to a minute for the run run-1 to end {}"]);
  });

  test.each(MINUTES)(
    "is over once it has not changed for a minute, and its use counts as if it was written when it was first seen ($minutes minutes)",
    async ({ behindMs }) => {
      const seenAtMs = account.clock.now();
      account.leave("a", "run-1", behind(account, behindMs));

      const next = await account.held("b", "run-2");

      expect(account.clock.now()).toBe(seenAtMs + 60_000);
      expect(next.earlier).toMatchObject([{ requests: 7 }, { requests: 100 }]);
      expect(crashedAtMs(next)).toBe(seenAtMs + 60_000);
    },
  );

  test("is over at once where it ended more than ten minutes ago", async () => {
    account.leave("a", "run-1", behind(account, 11 * 60_000));

    expect(await account.acquire("b", "run-2")).toBeInstanceOf(Lease);
  });

  test.each(["check", "discover"])("is not waited for by %s, which says so [D23]", async (command) => {
    account.leave("a", "run-1", behind(account, 5 * 60_000));

    expect(await account.acquire("b", `${command}-1`)).toEqual({
      outcome: "SKIPPED",
      reason: "LEASE_TAKEN",
      explanation:
        "The run run-1 works on this account; its lease ended at 2025-12-31T23:56:00.000Z by the clock of another computer, which may be behind.",
      next: ["Start again when it has ended."],
    });
    expect(account.clock.sleeping).toBe(0);
  });

  test.each([
    { what: "the same computer", boot: "boot-1", isTaken: false },
    { what: "another one of the same name", boot: "boot-2", isTaken: true },
  ])("is that of $what", async ({ boot, isTaken }) => {
    const holder = { token: "a", host: "laptop", boot_id: "boot-1" };
    account.leave("a", "run-1", { ...behind(account, 2 * 60_000), holder });
    account.process = { host: "laptop", boot_id: boot };

    const check = await account.acquire("b", "check-1");

    expect(check instanceof Lease).toBe(!isTaken);
  });
});

describe("what was used before a lease was freed", () => {
  const MINUTE_MS = 60_000;
  const laptop = { host: "laptop", boot_id: "boot-1" };
  const another = { host: "another", boot_id: "boot-2" };

  test.each([
    { by: "this computer", from: laptop, own: laptop, minutes: 5, laterMinutes: 0 },
    { by: "another one", from: another, own: laptop, minutes: 5, laterMinutes: 5 },
    { by: "another one", from: another, own: laptop, minutes: 30, laterMinutes: 10 },
    { by: "another one", from: another, own: laptop, minutes: -5, laterMinutes: 0 },
    { by: "a process of the platform", from: {}, own: laptop, minutes: 5, laterMinutes: 5 },
    { by: "another computer than the platform's", from: laptop, own: {}, minutes: 5, laterMinutes: 5 },
    { by: "another process of the platform", from: {}, own: {}, minutes: 5, laterMinutes: 0 },
    { by: "an earlier version, which names none", from: null, own: laptop, minutes: 5, laterMinutes: 5 },
  ])(
    "$minutes minutes ago by $by is taken for $laterMinutes minutes later [D17]",
    async ({ from, own, minutes, laterMinutes }) => {
      const freedAtMs = account.clock.now() - minutes * MINUTE_MS;
      const [renewed_at, use_since] = [0, -60 * MINUTE_MS].map((ms) =>
        new Date(freedAtMs + ms).toISOString(),
      );
      const use = [{ atMs: freedAtMs - 1_000, requests: 7, bytes: 70 }];
      const holder = from && { token: "a", ...from };
      account.store.put(KEY, freeLease({ holder, renewed_at, expires_at: renewed_at, use, use_since }));
      account.process = own;

      const next = await account.held("b", "run-2");

      const atMs = freedAtMs - 1_000 + laterMinutes * MINUTE_MS;
      expect(next.earlier).toEqual([{ atMs, requests: 7, bytes: 70 }]);
    },
  );

  test("is freed with the computer that used it", async () => {
    account.process = laptop;

    await (await account.held("a", "run-1")).release();

    expect(account.lease()).toMatchObject({ run_id: null, holder: laptop });
  });
});

describe("the lease of a command", () => {
  const CHECK = "check-2026-01-01T00-00-00.000Z";

  test("is waited for by a run, though it is renewed meanwhile", async () => {
    const check = await account.held("a", CHECK);

    const run = account.acquire("b", "run-1");
    await account.pass(50_000);
    await check.release();
    const lease = await account.until(run);

    expect(lease).toBeInstanceOf(Lease);
    expect(account.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 55));
    expect(account.log.lines).toEqual(["info waits up to a minute for the command check to end {}"]);
  });

  test("is waited for no longer than a minute", async () => {
    await account.held("a", CHECK);

    expect(await account.until(account.acquire("b", "run-1"))).toMatchObject(takenBy("The command check"));
    expect(account.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 1));
  });

  test("is not waited for by a command", async () => {
    account.leave("a", CHECK);

    const next = await account.acquire("b", "discover-1");

    expect(next).toMatchObject(takenBy("The command check"));
  });
});

function freeLease(changes: object): string {
  const at = "2026-01-01T00:00:00.000Z";
  const since = { use: [], use_since: "2025-12-31T23:00:00.000Z" };
  return JSON.stringify({ run_id: null, holder: null, renewed_at: at, expires_at: at, ...since, ...changes });
}
