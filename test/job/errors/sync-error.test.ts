import { expect, it } from "vitest";
import {
  addRestart,
  codeOf,
  damaged,
  ERROR_CODES,
  isDamage,
  isRefusedLogin,
  RESTORE,
  SyncError,
  withCommands,
} from "../../../lambdas/job/errors/sync-error.ts";

const codesWith = (is: (error: SyncError) => boolean): readonly string[] =>
  ERROR_CODES.filter((code) => is(new SyncError(code, "message")));

it("can be retried for these codes only", () => {
  expect(codesWith((error) => error.isRetryable)).toEqual([
    "SERVICE_UNAVAILABLE",
    "THROTTLED",
    "STORE_FAILED",
    "CATALOG_FAILED",
    "INTERRUPTED",
  ]);
});

it("is damage, or a refused login, for these codes only", () => {
  expect(codesWith(isDamage)).toEqual(["STORE_CORRUPT"]);
  expect(codesWith(isRefusedLogin)).toEqual(["LOGIN_REFUSED", "ACCOUNT_DISABLED", "AUTHORIZATION_EXPIRED"]);
});

it("is no damage where an error of another kind has its code", () => {
  expect(isDamage(Object.assign(new Error("other"), { code: "STORE_CORRUPT" }))).toBe(false);
  expect(isDamage(undefined)).toBe(false);
});

it("an error of the system has a code that is a text", () => {
  const errors = [{ code: "ENOENT" }, { code: 2 }, {}].map((facts) =>
    Object.assign(new Error("other"), facts),
  );

  expect(errors.map(codeOf)).toEqual(["ENOENT", undefined, undefined]);
});

it("has fields and a cause only if they are given", () => {
  const cause = new Error("cause");

  expect(new SyncError("THROTTLED", "message")).toMatchObject({ fields: {}, message: "message" });
  expect(Object.hasOwn(new SyncError("THROTTLED", "message"), "cause")).toBe(false);
  expect(new SyncError("THROTTLED", "message", { fields: { url: "u" }, cause })).toMatchObject({
    fields: { url: "u" },
    cause,
  });
});

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
