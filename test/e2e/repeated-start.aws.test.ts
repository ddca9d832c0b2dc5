// A second start of the deployed function: of the same trigger, of a finished one, beside another run.

import { afterAll, beforeAll, expect, test } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import { DeployedAccounts, sleepUntil } from "./deployed-accounts.ts";
import { metricLines, payload } from "./payload.ts";

/** Each test works on an account of its own. */
const ACCOUNTS = { same: {}, finished: {}, beside: {} };

const scheduledAt = "2026-01-01T06:00:00Z";

onEmulator("a second start of the deployed function", () => {
  let deployed: DeployedAccounts<keyof typeof ACCOUNTS>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS);
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("a second start of the same trigger waits for the first and makes no second snapshot", async () => {
    const account = "same";
    const simulator = deployed.service(account);
    const underWay = Promise.withResolvers<void>();
    simulator.configure({
      onRequest: async ({ endpoint }) => {
        if (endpoint !== "list") return;
        underWay.resolve();
        await sleepUntil(Date.now() + 1_000);
      },
    });

    const first = deployed.deployment.function.invoke({ account, scheduledAt });
    await underWay.promise;
    const second = deployed.deployment.function.invoke({ account, scheduledAt });

    expect(payload(await first)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(payload(await second)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(simulator.counts).toMatchObject({ logins: 1, list: 1, details: 100 });
  });

  test("a second start of a finished trigger sends no request and returns the same response", async () => {
    const account = "finished";
    const simulator = deployed.service(account);
    await deployed.deployment.function.invoke({ account, scheduledAt });
    simulator.reset();

    const counted = metricLines(deployed.deployment.function.lines, account).length;
    const again = await deployed.invoke({ account, scheduledAt });

    expect(again).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(again["note"]).toBe("This run was finished before; this start did nothing.");
    expect(simulator.counts.requests).toBe(0);
    expect(metricLines(deployed.deployment.function.lines, account)).toHaveLength(counted);
    expect(deployed.busEvents(account).at(-1)).toMatchObject({ detail: { publication: "0000000001" } });
  });

  test("a start beside another run is skipped", async () => {
    const account = "beside";
    const simulator = deployed.service(account);
    const underWay = Promise.withResolvers<void>();
    const skipped = Promise.withResolvers<void>();
    simulator.configure({
      onRequest: async ({ endpoint }) => {
        if (endpoint !== "list") return;
        underWay.resolve();
        await skipped.promise;
      },
    });

    const first = deployed.deployment.function.invoke({ account, scheduledAt });
    await underWay.promise;
    const second = await deployed.invoke({ account });
    skipped.resolve();

    expect(second).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(payload(await first)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
  });
});
