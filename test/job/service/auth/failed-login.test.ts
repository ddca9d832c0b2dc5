import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import {
  SessionCookies,
  sessionAuthenticator,
} from "../../../../lambdas/job/service/auth/session-authenticator.ts";

const BASE = new URL("https://api.example.com");

describe("a login that fails", () => {
  const failing = (errors: unknown[]) => {
    let logins = 0;
    const authenticator = sessionAuthenticator(async () => {
      logins += 1;
      const error = errors.shift();
      if (error !== undefined) throw error;
      return new SessionCookies(BASE);
    });
    return { authenticator, logins: () => logins };
  };

  it("fails for all waiting and all later requests, and is not repeated", async () => {
    const error = new SyncError("LOGIN_REFUSED", "refused");
    const { authenticator, logins } = failing([error]);

    const outcomes = await Promise.allSettled([authenticator.authorize(), authenticator.authorize()]);
    outcomes.push(...(await Promise.allSettled([authenticator.authorize()])));

    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).toEqual([
      error,
      error,
      error,
    ]);
    expect(logins()).toBe(1);
  });

  it("that its caller aborted is made by the next waiting request", async () => {
    const { authenticator, logins } = failing([new Error("stop")]);

    const [first, second] = await Promise.allSettled([authenticator.authorize(), authenticator.authorize()]);

    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
    expect(logins()).toBe(2);
  });

  it("does not hold a request that is aborted", async () => {
    const abort = new AbortController();
    const authenticator = sessionAuthenticator(() => Promise.withResolvers<SessionCookies>().promise);
    void authenticator.authorize();
    const waiting = authenticator.authorize(abort.signal);

    abort.abort(new Error("stop"));

    await expect(waiting).rejects.toThrow("stop");
  });
});
