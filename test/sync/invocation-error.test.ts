import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { invocationError } from "../../lambdas/sync/handle-request.ts";

const start = { account: "uk", run_id: "2026-11-21T06-00-00.000Z" };

test("an error is named by its code and says what to do, for which account and run", () => {
  const failure = invocationError(new SyncError("THROTTLED", "Run again later."), start);

  expect(failure.name).toBe("THROTTLED");
  expect(failure.message).toBe("Run again later. (account uk, run 2026-11-21T06-00-00.000Z)");
});

test("an error before the run is known names only the account", () => {
  const error = new SyncError("CONFIG_INVALID", "No.");

  expect(invocationError(error, { account: "uk" }).message).toBe("No. (account uk)");
  expect(invocationError(error, {}).message).toBe("No.");
});

describe("an unforeseen error", () => {
  test("shows its kind and stack frames, and nothing of its message", () => {
    const failure = invocationError(whereItHappened(), start);

    expect(failure.name).toBe("UNEXPECTED");
    expect(failure.message).toContain("Unexpected error (RangeError)");
    expect(failure.message).toContain("(account uk, run 2026-11-21T06-00-00.000Z)");
    expect(failure.stack).toContain("whereItHappened");
    expect(failure.stack).not.toContain("secret@example.test");
    expect(failure.cause).toBeUndefined();
  });

  test("may be any value", () => {
    expect(invocationError("secret@example.test", start).message).toContain("Unexpected error (string)");
  });
});

function whereItHappened(): Error {
  return new RangeError("row of secret@example.test");
}
