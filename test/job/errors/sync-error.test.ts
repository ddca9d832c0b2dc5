import { expect, it } from "vitest";
import {
  codeOf,
  ERROR_CODES,
  isDamage,
  isRefusedLogin,
  SyncError,
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
