import { describe, expect, test } from "vitest";
import { readAnswer } from "../../../bin/cli/authorize/read-answer.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

const SECRETS = ["the-code", "the-state", "canary-description"];

function outcome(query: string): string {
  try {
    return readAnswer(new URLSearchParams(query), "the-state");
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    for (const secret of SECRETS) expect(error.message).not.toContain(secret);
    expect(error.message).toMatch(/start authorize again|check|ask/i);
    return error.code;
  }
}

describe("an answer with", () => {
  test.each([
    ["code and state", "code=the-code&state=the-state", "the-code"],
    ["an issuer beside them", "code=the-code&state=the-state&iss=https://x.example", "the-code"],
    ["another state", "code=the-code&state=the-statf", "AUTHORIZATION_EXPIRED"],
    ["a longer state", "code=the-code&state=the-state2", "AUTHORIZATION_EXPIRED"],
    ["an empty state", "code=the-code&state=", "AUTHORIZATION_EXPIRED"],
    ["no state, which a provider may not know", "code=the-code", "the-code"],
    ["two codes", "code=the-code&code=other&state=the-state", "AUTHORIZATION_EXPIRED"],
    ["two states", "code=the-code&state=the-state&state=the-state", "AUTHORIZATION_EXPIRED"],
    [
      "a denial",
      "error=access_denied&state=the-state&error_description=canary-description",
      "AUTHORIZATION_EXPIRED",
    ],
    ["a denial without state", "error=access_denied", "AUTHORIZATION_EXPIRED"],
    ["a denial with another state", "error=access_denied&state=x", "AUTHORIZATION_EXPIRED"],
    ["a wrong client", "error=unauthorized_client&state=the-state", "CREDENTIALS_INVALID"],
    ["an unknown client", "error=invalid_client&state=the-state", "CREDENTIALS_INVALID"],
    ["a refused scope", "error=invalid_scope&state=the-state", "UNEXPECTED_RESPONSE"],
    ["a server that is down", "error=temporarily_unavailable&state=the-state", "SERVICE_UNAVAILABLE"],
    ["a reason of its own", "error=canary-description&state=the-state", "UNEXPECTED_RESPONSE"],
  ])("%s → %s → %s", (_, query, expected) => {
    expect(outcome(query)).toBe(expected);
  });
});
