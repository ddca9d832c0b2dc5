import { describe, expect, it, test } from "vitest";
import type { TokenPlace } from "../job/credentials/tokens/memory-token-store.ts";
import { Authorized } from "../job/service/auth/oauth/authorized.ts";
import { ManualClock } from "../simulator/manual-clock.ts";
import { FunctionSandbox, NEXT_DAY, RUN, SCHEDULED_AT } from "./function-sandbox.ts";

describe("a refused login", () => {
  test("fails the start once, with account and run: Lambda's retry is skipped, so one alarm is raised", async () => {
    await using sandbox = await FunctionSandbox.start({ account: { disabled: true } });

    const failure = await sandbox.invoke({ scheduledAt: SCHEDULED_AT }).catch((error: unknown) => error);
    const retry = await sandbox.retry({ scheduledAt: SCHEDULED_AT });

    expect(failure).toMatchObject({
      name: "ACCOUNT_DISABLED",
      message: expect.stringContaining(`(account uk, run ${RUN})`),
    });
    expect(retry).toEqual({
      outcome: "SKIPPED",
      reason: "LOGIN_REFUSED",
      explanation: expect.stringContaining("the account is disabled"),
      account: "uk",
      run_id: RUN,
    });
    const [first, second] = sandbox.metrics.map(({ values }) => values);
    expect(first).toMatchObject({ LoginRefused: 1 });
    expect(first).not.toHaveProperty("Failed");
    expect(second).toEqual({});
    expect(sandbox.events.map(({ detailType }) => detailType)).toEqual([
      "Run Started",
      "Run Failed",
      "Run Failed",
    ]);
    expect(sandbox.simulator.counts.logins).toBe(1);
  });

  test("no longer stops the schedule after a check that succeeded, which also clears the alarm", async () => {
    await using sandbox = await FunctionSandbox.start({ account: { disabled: true } });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT }).catch(() => undefined);
    sandbox.simulator.configure({ account: { disabled: false } });

    await sandbox.invoke({ action: "check" });
    const checked = sandbox.metrics.at(-1)?.values;
    const response = await sandbox.invoke({ scheduledAt: NEXT_DAY });

    expect(checked).toEqual({ LoginRefused: 0, CatalogBehind: 0 });
    expect(response).toMatchObject({ outcome: "PUBLISHED" });
  });

  test("is not sent again when Lambda retries a start by hand, and is sent by the next start by hand", async () => {
    await using sandbox = await FunctionSandbox.start({ account: { disabled: true } });
    const failure = await sandbox.invoke({}).catch((error: unknown) => error);

    const retry = await sandbox.retry({});
    const loginsOfTheStart = sandbox.simulator.counts.logins;
    const next = await sandbox.invoke({}).catch((error: unknown) => error);

    expect(failure).toMatchObject({ name: "ACCOUNT_DISABLED" });
    expect(retry).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    expect(loginsOfTheStart).toBe(1);
    expect(next).toMatchObject({ name: "ACCOUNT_DISABLED" });
    expect(sandbox.simulator.counts.logins).toBe(2);
  });
});

// The method oauth in the function: tokens in the second secret of the account.

const scheduledAt = (hour: number): object => ({
  account: "uk",
  action: "run",
  scheduledAt: `2026-11-21T0${hour}:00:00Z`,
});

interface OAuthFunction extends AsyncDisposable {
  readonly sandbox: FunctionSandbox;
  readonly authorized: Authorized;
}

/** @param tokens undefined: those of an authorization */
async function oauthFunction(tokens?: TokenPlace): Promise<OAuthFunction> {
  const authorized = await Authorized.start(new ManualClock(Date.UTC(2026, 10, 21)));
  const { provider, place } = authorized;
  const sandbox = await FunctionSandbox.start({ bearer: provider }, { authUrl: provider.url });
  sandbox.credentials = provider.credentials;
  sandbox.tokens = tokens ?? place;
  return {
    sandbox,
    authorized,
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]();
      await provider.stop();
    },
  };
}

const codeOf = (error: unknown): unknown => (error instanceof Error ? error.name : JSON.stringify(error));

describe("a scheduled run with the method oauth", () => {
  it("is skipped while the second secret never had a value, and names the command to paste", async () => {
    await using world = await oauthFunction();
    const { place } = world.authorized;
    place.text = undefined;

    const response = await world.sandbox.invoke(scheduledAt(6));

    expect(response).toMatchObject({
      outcome: "SKIPPED",
      reason: "NOT_SET_UP",
      explanation: expect.stringContaining(
        `npx brand-events-sync authorize --auth-url ${world.authorized.provider.url}/ --credentials secretsmanager:secret-of-uk --tokens secretsmanager:tokens-of-uk`,
      ),
    });
    expect(world.sandbox.simulator.counts.requests).toBe(0);
  });

  it("after AUTHORIZATION_EXPIRED is skipped until other tokens are stored", async () => {
    await using world = await oauthFunction();
    const { sandbox, authorized } = world;
    authorized.provider.revokeAll();

    const first = await sandbox.invoke(scheduledAt(5)).catch(codeOf);
    const refreshes = authorized.provider.counts.refreshes;
    const second = await sandbox.invoke(scheduledAt(6));
    authorized.authorizeAgain();
    const third = await sandbox.invoke(scheduledAt(7));

    expect(first).toBe("AUTHORIZATION_EXPIRED");
    expect(second).toMatchObject({
      outcome: "SKIPPED",
      reason: "LOGIN_REFUSED",
      explanation: expect.stringContaining("Authorize again"),
    });
    expect(authorized.provider.counts.refreshes).toBe(refreshes);
    expect(third).toMatchObject({ outcome: "PUBLISHED" });
  });

  it("without an identity provider says which setting is missing", async () => {
    await using world = await oauthFunction();
    await using sandbox = await FunctionSandbox.start();
    sandbox.credentials = world.authorized.provider.credentials;

    const error = await sandbox.invoke(scheduledAt(6)).catch((reason: unknown) => reason);

    expect(codeOf(error)).toBe("CONFIG_INVALID");
    expect(String(error)).toContain("authUrl");
  });
});
