import { expect, it } from "vitest";
import { addDamagedHeadRemedy, damaged, RESTORE, SyncError } from "../../../lambdas/job/errors/sync-error.ts";

it("an error about a damaged file gets a second remedy where the file is of the head", () => {
  const cause = new Error("cut");
  const error = addDamagedHeadRemedy(damaged("snapshots/uk/s/a", "it is cut", RESTORE, cause), "uk");

  expect(error).toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringMatching(
      /^The file snapshots\/uk\/s\/a is damaged: it is cut\. Restore it .* Or restart: .*"account": "uk"/,
    ),
    fields: { key: "snapshots/uk/s/a" },
    cause,
  });
});

it("any other error stays as it is", () => {
  const error = new SyncError("STORE_FAILED", "The disk is full.");

  expect(addDamagedHeadRemedy(error, "uk")).toBe(error);
});
