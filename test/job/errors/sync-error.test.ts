import { expect, it } from "vitest";
import { ERROR_CODES, isDamage, isRefusedLogin, SyncError } from "../../../lambdas/job/errors/sync-error.ts";

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

it("has fields and a cause only if they are given", () => {
  const cause = new Error("cause");

  expect(new SyncError("THROTTLED", "message")).toMatchObject({ fields: {}, message: "message" });
  expect(Object.hasOwn(new SyncError("THROTTLED", "message"), "cause")).toBe(false);
  expect(new SyncError("THROTTLED", "message", { fields: { url: "u" }, cause })).toMatchObject({
    fields: { url: "u" },
    cause,
  });
});
