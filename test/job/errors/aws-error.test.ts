import { describe, expect, it } from "vitest";
import { awsError, commonRemedy, isTransient, shortCause } from "../../../lambdas/job/errors/aws-error.ts";

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
