import { describe, expect, test } from "vitest";
import * as z from "zod";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { FunctionSandbox } from "./function-sandbox.ts";

describe("a request that publishes nothing", () => {
  test("check returns what does not work, with its remedy", async () => {
    await using sandbox = await FunctionSandbox.start();
    sandbox.credentials = { method: "session", email: "a@example.test", password: "wrong" };

    const response = await sandbox.invoke({ action: "check" });

    expect(response).toMatchObject({ account: "uk", ok: false });
    expect(response).toMatchObject({
      checks: expect.arrayContaining([
        { name: "login", ok: false, code: "LOGIN_REFUSED", remedy: expect.any(String) },
        { name: "store", ok: true, code: null, remedy: null },
      ]),
    });
  });

  test("a list that nothing calls whole is a doubt in each answer, and in no event", async () => {
    await using sandbox = await FunctionSandbox.start();

    const run = await sandbox.invoke({});
    const others = [
      await sandbox.invoke({ action: "check" }),
      await sandbox.invoke({ action: "discover", limit: 3 }),
      await sandbox.invoke({ action: "status" }),
    ];

    const said =
      /^Nothing says that the list is whole: 100 entries came\. Compare .* If that is all, set "nextPage": "all" of the account uk in cdk\.json; else (?:`aws lambda invoke [^`]*\{"action":"check","account":"uk"\}[^`]*` tries what could fit|ask the service's operator .*)\.$/;
    for (const answer of [run, ...others])
      expect(answer).toMatchObject({ doubt: expect.stringMatching(said) });
    expect(run).toMatchObject({ outcome: "PUBLISHED" });
    expect(sandbox.log.text).toMatch(/^warn Nothing says that the list is whole/m);
    expect(JSON.stringify(sandbox.events)).not.toContain("whole");
  });

  test("check of a damaged snapshot has the whole command that restarts, and its payload does", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({});
    const [part = ""] = sandbox.store.keys("snapshots/").filter((key) => key.includes("/part-"));
    sandbox.store.put(part, "no gzip");

    const { checks } = z
      .object({ checks: z.array(z.object({ name: z.string(), remedy: z.string().nullable() })) })
      .parse(await sandbox.invoke({ action: "check" }));
    const remedy = checks.find(({ name }) => name === "snapshot")?.remedy ?? "";
    const [, command, payload = ""] =
      / Or restart over the damage; then all events count as added: `(aws .* --payload '(.*)' \/dev\/stdout)`\./.exec(
        remedy,
      ) ?? [];
    const restarted = await sandbox.invoke(JSON.parse(payload));

    expect(command).toMatch(/^aws lambda invoke --region \S+ --function-name \S+:live /);
    expect(JSON.parse(payload)).toEqual({ action: "run", account: "uk", overDamaged: true });
    expect(restarted).toMatchObject({
      outcome: "PUBLISHED",
      explanation: expect.stringContaining("all 100 events count as added"),
    });
  });

  test("check logs how many events there are and how long a run of them takes", async () => {
    await using sandbox = await FunctionSandbox.start();

    await sandbox.invoke({ action: "check" });

    expect(sandbox.log.text).toMatch(/^info \d+ events(?:, about .+)? /m);
  });

  test("discover meets a run, says so, and sends nothing", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({});
    sandbox.simulator.reset();
    sandbox.store.put("accounts/uk/lease.json", livingLease(sandbox.clock.now()));

    expect(await sandbox.invoke({ action: "discover" })).toEqual({
      account: "uk",
      outcome: "SKIPPED",
      reason: "LEASE_TAKEN",
      explanation: expect.stringMatching(/^The run run-1 works on this account; /),
    });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("discover reads a sample", async () => {
    await using sandbox = await FunctionSandbox.start();

    const response = await sandbox.invoke({ action: "discover", limit: 3 });

    expect(response).toMatchObject({ account: "uk", listed: 100, events: 3 });
    expect(sandbox.simulator.counts.details).toBe(3);
  });

  test("a dry run answers with the events that differ", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({});
    const [changed] = sandbox.simulator.listed();
    sandbox.simulator.change(changed?.uuid ?? "", { source: `{"uuid":"${changed?.uuid}"}` });

    const response = await sandbox.invoke({ dryRun: true });

    expect(response).toMatchObject({
      outcome: "DRY_RUN",
      counts: { added: 0, changed: 1, removed: 0 },
      rows: [{ uuid: changed?.uuid, change: "changed", fields: expect.any(Array), reason: null }],
    });
  });

  test("status sends no request", async () => {
    await using sandbox = await FunctionSandbox.start();

    const response = await sandbox.invoke({ action: "status" });

    expect(response).toEqual({ account: "uk", head: null, lease: null, held: [], runs: [] });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });
});
