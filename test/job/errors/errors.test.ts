import { describe, expect, it } from "vitest";
import { awsError, commonRemedy, isTransient, shortCause } from "../../../lambdas/job/errors/aws-error.ts";
import { redactKey, shownText, utf8Text } from "../../../lambdas/job/errors/shown-text.ts";
import {
  addRestart,
  codeOf,
  damaged,
  ERROR_CODES,
  isDamage,
  isRefusedLogin,
  RESTORE,
  SyncError,
} from "../../../lambdas/job/errors/sync-error.ts";
import { told } from "../../words/said.ts";

const codesWith = (is: (error: SyncError) => boolean): readonly string[] =>
  ERROR_CODES.filter((code) => is(new SyncError(code, "message")));

it("an error can be retried for these codes only", () => {
  expect(codesWith((error) => error.isRetryable)).toEqual([
    "SERVICE_UNAVAILABLE",
    "THROTTLED",
    "STORE_FAILED",
    "CATALOG_FAILED",
    "INTERRUPTED",
  ]);
});

it("an error is damage, or a refused login, for these codes only", () => {
  expect(codesWith(isDamage)).toEqual(["STORE_CORRUPT"]);
  expect(codesWith(isRefusedLogin)).toEqual(["LOGIN_REFUSED", "ACCOUNT_DISABLED", "AUTHORIZATION_EXPIRED"]);
});

it("an error is no damage where an error of another kind has its code", () => {
  expect(isDamage(Object.assign(new Error("other"), { code: "STORE_CORRUPT" }))).toBe(false);
  expect(isDamage(undefined)).toBe(false);
});

it("an error of the system has a code that is a text", () => {
  const errors = [{ code: "ENOENT" }, { code: 2 }, {}].map((facts) =>
    Object.assign(new Error("other"), facts),
  );

  expect(errors.map(codeOf)).toEqual(["ENOENT", undefined, undefined]);
});

it("an error has fields and a cause only if they are given", () => {
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

  expect(told(error)).toMatchObject({
    code: "STORE_CORRUPT",
    message:
      "The file snapshots/uk/s/a is damaged: it is cut. Restore it from a backup or an older version. Or restart over the damage; then all events count as added: run --over-damaged.",
    fields: { key: "snapshots/uk/s/a" },
    cause,
  });
});

it("an error of another kind stays as it is", () => {
  const error = new SyncError("STORE_FAILED", "The disk is full.");

  expect(addRestart(error)).toBe(error);
});

/** As a client of AWS throws it. */
function thrown(name: string, status?: number, message = "said no"): Error {
  const metadata = { ...(status === undefined ? {} : { httpStatusCode: status }), requestId: "r-1" };
  return Object.assign(new Error(message), { name, $metadata: metadata, $response: { body: "SECRET" } });
}

describe("an error of an AWS client", () => {
  it("is reduced to name, status, request id and one short line", () => {
    const error = thrown("AccessDenied", 403, `two\n  lines ${"x".repeat(1_000)}`);

    const reduced = awsError(error);

    expect(reduced).toMatchObject({ name: "AccessDenied", status: 403, requestId: "r-1" });
    expect(reduced?.message).toMatch(/^two lines x+$/);
    expect(reduced?.message).toHaveLength(400);
  });

  it("has the code of the connection where it has no name of its own", () => {
    const error = Object.assign(thrown("Error"), { code: "ECONNREFUSED" });

    expect(awsError(error)).toMatchObject({ name: "ECONNREFUSED", status: undefined });
  });

  it.each([new Error("a mistake"), "a text", undefined])("is not %s", (other) => {
    expect(awsError(other)).toBeUndefined();
  });

  it("becomes a cause without response and headers", () => {
    const error = awsError(thrown("AccessDenied", 403));

    const cause = error && shortCause(error);

    expect(cause).toMatchObject({ name: "AccessDenied", message: "said no (request r-1)" });
    expect(JSON.stringify({ ...cause })).not.toContain("SECRET");
  });
});

describe("what to do", () => {
  it.each([
    ["ExpiredToken", 403, false, "Log in to AWS again"],
    ["UnrecognizedClientException", 400, false, "Log in to AWS again"],
    ["RequestTimeTooSkewed", 403, false, "the clock of this machine is wrong"],
    ["SlowDown", 503, true, "Start again later"],
    ["ThrottlingException", 400, true, "Start again later"],
    ["OperationTimeoutException", 400, true, "Start again later"],
    ["InternalError", 500, true, "Start again later"],
    ["ECONNREFUSED", undefined, true, "check network, proxy and region"],
  ] as const)("%s (%s): a retry may fix it: %s; %s", (name, status, isRetried, says) => {
    const error = { name, status, message: "said no", requestId: undefined };

    expect(isTransient(error)).toBe(isRetried);
    expect(commonRemedy(error)).toContain(says);
  });

  it.each([
    ["AccessDenied", 403],
    ["NoSuchBucket", 404],
  ])("%s (%i) is for the service's own messages", (name, status) => {
    const error = { name, status, message: "said no", requestId: undefined };

    expect(isTransient(error)).toBe(false);
    expect(commonRemedy(error)).toBeUndefined();
  });
});

it.each([
  ["plain text", '"plain text"'],
  ['with "quotes"\n', '"with \\"quotes\\"\\n"'],
  ["https://api.example.com/v1", '"https://api.example.com/v1"'],
  ["https://user:secret@api.example.com/v1", '"https://…@api.example.com/v1"'],
  ["https://user:p@ss@api.example.com", '"https://…@api.example.com"'],
  ["see //a:b@c and //d:e@f", '"see //…@c and //…@f"'],
  ["you@example.com", '"you@example.com"'],
])("the text %j is shown as %s", (text, shown) => {
  expect(shownText(text)).toBe(shown);
});

it.each([
  ["name", "name"],
  ["_grossAmount-2", "_grossAmount-2"],
  ["$ref", "$ref"],
  ["a".repeat(40), "a".repeat(40)],
  ["a".repeat(41), "<key>"],
  ["you@example.com", "<key>"],
  ["two words", "<key>"],
  ["2026", "<key>"],
  ["", "<key>"],
  ["1c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6", "<uuid>"],
])("the key %j is shown as %s", (key, shown) => {
  expect(redactKey(key)).toBe(shown);
});

// Of the encodings that editors and shells save text in only UTF-8 is text.
it.each([
  ["UTF-8", Buffer.from("Zürich")],
  ["UTF-8 with a byte order mark", Buffer.from("\uFEFFZürich")],
])("%s is text, without its mark", (_, bytes) => {
  expect(utf8Text(bytes)).toBe("Zürich");
});

it.each([
  ["Latin-1", Buffer.from("Zürich", "latin1")],
  ["UTF-16 with a byte order mark", Buffer.from("\uFEFFZürich", "utf16le")],
  ["UTF-16 without one", Buffer.from("Zurich", "utf16le")],
])("%s is none", (_, bytes) => {
  expect(utf8Text(bytes)).toBeUndefined();
});
