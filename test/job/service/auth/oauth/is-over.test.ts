// Answers of identity providers to a renewal: which of them send the person to `authorize`.

import { describe, expect, it } from "vitest";
import { isRefusedLogin } from "../../../../../lambdas/job/errors/sync-error.ts";
import { CANARY } from "../../../../simulator/account.ts";
import { told } from "../../../../words/said.ts";
import { errorOf, said } from "../../connection.ts";
import { AUTHORIZE } from "./authorized.ts";
import { RotationWorld } from "./rotation-world.ts";

type Answer = readonly [status: number, body: unknown];

/** What a renewal ends with, and what it says. */
async function refusedBy([status, body]: Answer, { renewsBefore = false } = {}) {
  await using world = await RotationWorld.start();
  if (renewsBefore) await world.renewOnce();
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const fault = { kind: "status", status, body: text } as const;
  world.authorized.provider.configure({
    faults: [{ match: { target: "refresh_token", times: Infinity }, fault }],
  });
  const error = await errorOf(world.renewOnce());
  return { error, text: said(error, world.log) };
}

const OVER: readonly Answer[] = [
  [400, { error: "invalid_grant", error_description: CANARY.body }],
  [401, { error: "invalid_grant" }],
  [403, { error: "invalid_grant" }],
  [200, { error: "invalid_grant", error_description: CANARY.body }],
  [400, { error: "InvalidGrant" }],
  [400, { error: "INVALID-GRANT" }],
  [400, { error: { code: "invalid_grant", message: CANARY.body } }],
  [400, { errors: ["invalid_grant"] }],
  [400, { success: false, errors: [{ errorType: "invalid_grant", message: CANARY.body }] }],
  [400, { type: "urn:ietf:params:oauth:error:invalid_grant", status: 400 }],
  [400, { type: "https://login.example/problems/invalid-token", title: "Bad request" }],
  [401, { error: "invalid_token" }],
  [401, { detail: CANARY.body, code: "token_not_valid" }],
  [400, { error: "expired_token" }],
  [401, { name: "TokenExpiredError", message: "jwt expired" }],
  [200, { ok: false, error: "token_revoked" }],
  [200, { ok: false, error: "invalid_refresh_token" }],
  [200, { error: "bad_refresh_token", error_uri: "https://docs.example/refresh" }],
  [200, { access_token: "", refresh_token: "", error: "bad_refresh_token" }],
  [400, { status: "BAD_REFRESH_TOKEN", message: CANARY.body }],
  [401, { errors: [{ code: "EXPIRED_REFRESH_TOKEN" }] }],
  [401, { code: "refresh_token_expired" }],
  [403, { error: { reason: "refreshTokenReused" } }],
  [
    401,
    { fault: { faultstring: "x y", detail: { errorcode: "keymanagement.service.refresh_token_expired" } } },
  ],
  [400, { error: { code: 400, message: "INVALID_REFRESH_TOKEN", status: "INVALID_ARGUMENT" } }],
  [400, { message: "Bad Request", errors: [{ resource: "Token", field: "refresh_token", code: "invalid" }] }],
  [400, { ErrorCode: "invalid_request", Error: "Refresh Token expired" }],
  [401, { title: "Invalid refresh token", status: 401 }],
  [400, { error: "interaction_required", suberror: "basic_action" }],
];

const NOT_OVER: readonly Answer[] = [
  // Nothing that says it in a code.
  [400, ""],
  [400, "invalid_grant"],
  [400, ["invalid_grant"]],
  [400, '{"error":"invalid_grant"'],
  [200, "<title>invalid_grant</title>"],
  [400, {}],
  [401, {}],
  [400, { error: "invalid_scope", error_description: "the refresh token is over: invalid_grant" }],
  [400, { message: "The refresh token has expired." }],
  [400, { error: "The request could not be handled, because the refresh token may have expired by now." }],
  [400, { error: "Could not refresh the token" }],
  [400, { error: 7, id: "invalid_grant", error_uri: "https://docs.example/errors/invalid_grant" }],
  [400, { a: { b: { c: { d: { e: { f: { error: "invalid_grant" } } } } } } }],
  // Another status.
  [404, { error: "invalid_grant" }],
  [405, { error: "invalid_grant" }],
  [408, { error: "invalid_grant" }],
  [422, { error: "invalid_grant" }],
  [425, { error: "invalid_grant" }],
  [429, { error: "invalid_grant" }],
  [500, { error: "invalid_grant" }],
  [503, { error: "invalid_grant" }],
  // A failure that passes, also beside a code that would count.
  [400, { error: "temporarily_unavailable" }],
  [400, { error: "server_error", code: "refresh_token_store_down" }],
  [400, { error: "slow_down" }],
  [403, { error: "refresh_token_rate_limit" }],
  [400, { error: "invalid_grant", reason: "TemporarilyUnavailable" }],
  // About the client, or the form of the request.
  [401, { error: "invalid_client", code: "invalid_token" }],
  [400, { error: "unauthorized_client", error_description: "refresh_token_disabled" }],
  [400, { error: "unsupported_grant_type", error_description: "refresh_token" }],
  [400, { error: "missing_refresh_token" }],
  [400, { errors: [{ field: "refresh_token", code: "required" }] }],
  [400, { errors: [{ field: "refresh_token", code: "invalid_type" }] }],
  [400, { errors: [{ field: "refresh_token", message: "x" }] }],
  [400, { errors: [{ name: "refresh_token", message: "must be a JSON string" }] }],
  [400, { error: "token_not_expired" }],
];

const ANY: readonly Answer[] = [
  [400, { error: "invalid_request" }],
  [403, { error: "access_denied" }],
  [200, { error: { code: "INVALID_REQUEST" } }],
];

const show = (answers: readonly Answer[]) =>
  answers.map(([status, body]) => [status, JSON.stringify(body), [status, body] as Answer] as const);

describe("a renewal that is answered with status", () => {
  it.each(show(OVER))("%i and %s ends as AUTHORIZATION_EXPIRED", async (_, __, answer) => {
    const { error, text } = await refusedBy(answer);

    expect(told(error)).toMatchObject({
      code: "AUTHORIZATION_EXPIRED",
      message: expect.stringMatching(new RegExp(`Authorize${AUTHORIZE}$`)),
    });
    expect(text).not.toMatch(/canary/i);
  });

  it.each(show([...NOT_OVER, ...ANY]))(
    "%i and %s lets the schedule go on, and names the command too",
    async (_, __, answer) => {
      const { error } = await refusedBy(answer);

      expect(isRefusedLogin(error)).toBe(false);
      expect(told(error)).toHaveProperty(
        "message",
        expect.stringMatching(
          new RegExp(`\\. Either that is the reason, or the authorization is over${AUTHORIZE}$`),
        ),
      );
    },
  );

  it.each(show(ANY))(
    "%i and %s is AUTHORIZATION_EXPIRED once a renewal has worked",
    async (_, __, answer) => {
      const { error } = await refusedBy(answer, { renewsBefore: true });

      expect(error).toMatchObject({ code: "AUTHORIZATION_EXPIRED" });
    },
  );

  it.each(show(NOT_OVER))("%i and %s lets it go on then as well", async (_, __, answer) => {
    const { error } = await refusedBy(answer, { renewsBefore: true });

    expect(isRefusedLogin(error)).toBe(false);
  });
});

it("an answer with tokens brings them, whatever code stands beside them", async () => {
  const raw = (body: string): string => body.replace("{", '{"status":"refresh_token_replaced",');
  await using world = await RotationWorld.start({ tokenResponse: { raw } });

  expect(await world.renewOnce()).toMatchObject({ isRenewed: true });
});

it("an answer that never came says nothing of the authorization", async () => {
  await using world = await RotationWorld.start({
    faults: [{ match: { target: "refresh_token", times: Infinity }, fault: { kind: "reset-before" } }],
  });

  const error = await errorOf(world.renewOnce());

  expect(error).toHaveProperty("message", expect.not.stringContaining("authorization"));
});

it("a body of 64 KB of brackets is read as any other", async () => {
  const deep = `{"error":${"[".repeat(32_000)}"invalid_grant"${"]".repeat(32_000)}}`;

  const { error } = await refusedBy([400, deep]);

  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
});
