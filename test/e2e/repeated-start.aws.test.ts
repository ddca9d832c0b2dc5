// A second start of the deployed function: after a time limit, of the same trigger, beside another run.

import { afterAll, beforeAll, expect, test } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { AT_ONCE, DeployedAccounts, sleepUntil } from "./deployed-accounts.ts";
import { metricLines, payload } from "./payload.ts";

/** Each test works on an account of its own. */
const ACCOUNTS = { slow: {}, same: {}, finished: {}, beside: {} };

const scheduledAt = "2026-01-01T06:00:00Z";

onEmulator("a second start of the deployed function", () => {
  let deployed: DeployedAccounts<keyof typeof ACCOUNTS>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS);
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("the time limit stops a run at a shard's edge; the retry finishes it and fetches nothing twice", async () => {
    const account = "slow";
    const simulator = deployed.service(account);
    simulator.setEvents(makeEvents(1_200));
    const startedAtMs = Date.now();
    let details = 0;
    simulator.configure({
      // The first shard takes so long that less than the reserve is left when it ends.
      onRequest: async ({ endpoint }) => {
        if (endpoint === "detail" && ++details === 500) await sleepUntil(startedAtMs + 5_500);
      },
    });

    const results = await deployed.deployment.function.deliver(
      { account, scheduledAt: "2026-01-01T06:00:00Z" },
      { ...AT_ONCE, timeoutsMs: [35_000, 900_000] },
    );

    const [stopped, finished] = results;
    expect(stopped).toMatchObject({
      ok: false,
      errorType: "INTERRUPTED",
      errorMessage: expect.stringContaining("1000 of 1200 events are staged"),
    });
    expect(payload(finished ?? { ok: true, payload: {} })).toMatchObject({ outcome: "PUBLISHED" });
    expect(simulator.counts).toMatchObject({ details: 1_200, list: 1, logins: 2 });
    expect(Math.max(...simulator.counts.detailsByUuid.values())).toBe(1);
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const outcomes = metricLines(deployed.deployment.function.lines, account).map(({ values }) => values);
    expect(outcomes).toMatchObject([{ Published: 0 }, { Published: 1 }]);
    expect(outcomes[0]).not.toHaveProperty("Failed");
  });

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
