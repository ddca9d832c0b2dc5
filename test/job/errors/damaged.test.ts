import { expect, it } from "vitest";
import {
  addRestart,
  damaged,
  RESTORE,
  SyncError,
  withCommands,
} from "../../../lambdas/job/errors/sync-error.ts";

it("an error about a damaged file gets a second remedy where the file is of the head", () => {
  const cause = new Error("cut");
  const error = addRestart(damaged("snapshots/uk/s/a", "it is cut", RESTORE, cause));

  expect(error).toMatchObject({
    code: "STORE_CORRUPT",
    message: expect.stringMatching(
      /^The file snapshots\/uk\/s\/a is damaged: it is cut\. Restore it .* Or restart over the damage \(--over-damaged; overDamaged in AWS\); then all events count as added\.$/,
    ),
    fields: { key: "snapshots/uk/s/a" },
    cause,
  });
});

it("any other error stays as it is", () => {
  const error = new SyncError("STORE_FAILED", "The disk is full.");

  expect(addRestart(error)).toBe(error);
});

it("its reader gets a whole command in place of the option", () => {
  const { message } = addRestart(damaged("a", "it is cut", RESTORE)) as SyncError;

  expect(withCommands(message, () => "run $& --over-damaged")).toBe(
    "The file a is damaged: it is cut. Restore it from a backup or an older version. Or restart over the damage; then all events count as added: `run $& --over-damaged`.",
  );
  expect(withCommands("The disk is full.", () => "run")).toBe("The disk is full.");
});
