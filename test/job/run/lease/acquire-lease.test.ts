// Which lease is taken at once and which is not, and what is said of it.

import { describe, expect, test } from "vitest";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { endOfUncounted } from "../../../../lambdas/job/run/lease/lease-file.ts";
import { Account } from "./lease-world.ts";

const [OWN, OTHER] = ["own", "other"].map(
  (name) => `arn:aws:states:eu-west-1:123456789012:execution:sync:${name}`,
);

describe("the lease of an execution", () => {
  const isTaken = {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation:
      "The run run-1 of this account was handed over to the execution other of the state machine, and the lease is the execution's until it ends. Start again when it has ended.",
  };

  test.each([
    ["goes to a process once the execution has ended", undefined, true, undefined],
    ["stays the execution's while that works", undefined, false, isTaken],
    ["stays the execution's where that cannot be asked", undefined, undefined, isTaken],
    ["goes to another execution only where it may", OWN, false, isTaken],
    ["goes to the same execution, whatever the answer", OTHER, false, undefined],
  ] as const)("%s", async (_, execution, answer, taken) => {
    const account = new Account();
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
  const account = new Account();
  account.leave("a", "2026-01-01T00-00-00.000Z");

  expect(await account.acquire("b", "run-2")).toEqual({
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation:
      "The run 2026-01-01T00-00-00.000Z works on this account; its lease lasts until 2026-01-01T00:01:00.000Z unless it is renewed. Start again when it has ended.",
  });
});
