import { describe, expect, test } from "vitest";
import { FunctionSandbox } from "./function-sandbox.ts";
import { NEXT_DAY, RUN, SCHEDULED_AT } from "./instants.ts";

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
