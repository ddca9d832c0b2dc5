import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { defectOf, failureOf } from "../../lambdas/sync/failure.ts";

const start = { account: "uk", run_id: "2026-11-21T06-00-00.000Z" };

test("a failure is named by its code and says what to do, for which account and run", () => {
  const failure = failureOf(new SyncError("THROTTLED", "Run again later."), start);

  expect(failure.name).toBe("THROTTLED");
  expect(failure.message).toBe("Run again later. (account uk, run 2026-11-21T06-00-00.000Z)");
});

test("a failure before the run is known says what is known", () => {
  const error = new SyncError("CONFIG_INVALID", "No.");

  expect(failureOf(error, { account: "uk" }).message).toBe("No. (account uk)");
  expect(failureOf(error, {}).message).toBe("No.");
});

describe("a defect", () => {
  test("shows its kind and its place, and nothing of its message", () => {
    const failure = defectOf(whereItHappened(), start);

    expect(failure.name).toBe("UNEXPECTED");
    expect(failure.message).toContain("Unexpected error (RangeError)");
    expect(failure.message).toContain("(account uk, run 2026-11-21T06-00-00.000Z)");
    expect(failure.stack).toContain("whereItHappened");
    expect(failure.stack).not.toContain("secret@example.test");
    expect(failure.cause).toBeUndefined();
  });

  test("need not be an error", () => {
    expect(defectOf("secret@example.test", start).message).toContain("Unexpected error (string)");
  });
});

function whereItHappened(): Error {
  return new RangeError("row of secret@example.test");
}
