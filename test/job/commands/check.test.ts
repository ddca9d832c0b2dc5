import { describe, expect, test } from "vitest";
import { check } from "../../../lambdas/job/commands/check.ts";
import { discover } from "../../../lambdas/job/commands/discover.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { ANY_SHELL, say } from "../../../lambdas/words/style.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { saidChecks } from "../../words/said.ts";
import { interposed, refusing } from "../run/interposed-store.ts";
import { livingLease } from "../run/lease/lease-world.ts";
import { ACCOUNT, Sandbox } from "../run/sandbox.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;

describe("check", () => {
  test("that finds the lease of another process sends nothing, and makes the other checks [D26]", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const lease = livingLease(sandbox.clock.now());
    sandbox.store.put(LEASE, lease);

    const checks = saidChecks(await check(sandbox.ports(), sandbox.settings));

    expect(checks).toEqual([
      { name: "credentials", ok: true, code: null, remedy: null },
      {
        name: "lease",
        ok: false,
        code: "LEASE_TAKEN",
        remedy: expect.stringMatching(
          /^The run run-1 works on this account; .*Start again when it has ended\.$/,
        ),
      },
      { name: "store", ok: true, code: null, remedy: null },
      { name: "catalog", ok: true, code: null, remedy: null },
      { name: "snapshot", ok: true, code: null, remedy: null },
    ]);
    expect(sandbox.simulator.counts.requests).toBe(0);
    expect(sandbox.store.text(LEASE)).toBe(lease);
  });

  test("that finds the lease of another process still says what is wrong with the credentials", async () => {
    await using sandbox = await Sandbox.start();
    sandbox.store.put(LEASE, livingLease(sandbox.clock.now()));
    const openService = async (): Promise<never> => {
      throw new SyncError("CREDENTIALS_INVALID", "There is no such file.");
    };

    const checks = saidChecks(await check(sandbox.ports({ openService }), sandbox.settings));

    expect(checks.map(({ name, code }) => [name, code]).slice(0, 2)).toEqual([
      ["credentials", "CREDENTIALS_INVALID"],
      ["lease", "LEASE_TAKEN"],
    ]);
  });

  test("that cannot take the lease says so in its place, and tries the service and everything else [D26]", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const error = new SyncError("STORE_FAILED", "A link is in its place.");
    const store = refusing(sandbox.store, "lease.json", error);

    const checks = saidChecks(await check(sandbox.ports({ store }), sandbox.settings));

    expect(checks.filter(({ ok }) => !ok)).toEqual([
      { name: "lease", ok: false, code: "STORE_FAILED", remedy: "A link is in its place." },
    ]);
    const names = ["credentials", "login", "list", "detail", "store", "lease", "catalog", "snapshot"];
    expect(checks.map(({ name }) => name)).toEqual(names);
  });

  test("says how long a run takes within the limit", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(40) }, { requestsPerMinute: 20 });
    const estimates: string[] = [];

    await check(sandbox.ports(), sandbox.settings, {
      onEstimate: (found) => estimates.push(say(found, ANY_SHELL)),
    });

    expect(estimates).toEqual(["40 events, about 2 min"]);
  });

  test("frees the lease, and leaves its use in it", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });

    const checks = saidChecks(await check(sandbox.ports(), sandbox.settings));

    expect(checks.every(({ ok }) => ok)).toBe(true);
    const { run_id, use } = JSON.parse(sandbox.store.text(LEASE) ?? "");
    const requests = use.reduce((sum: number, each: { requests: number }) => sum + each.requests, 0);
    expect({ run_id, requests }).toEqual({ run_id: null, requests: sandbox.simulator.counts.requests });
  });

  test("warns where the service refuses some of twenty details, spread over the list", async () => {
    const events = makeEvents(60);
    await using sandbox = await Sandbox.start({ events });
    for (const { uuid } of events.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1)).slice(0, 6))
      sandbox.simulator.restrict(uuid);

    const checks = saidChecks(await check(sandbox.ports(), sandbox.settings));

    expect(checks.find(({ name }) => name === "detail")).toEqual({
      name: "detail",
      ok: true,
      code: null,
      remedy:
        "The service refuses the details of 2 of 20 events that were tried (403). If the account may not see them, a first snapshot may be held as MISSING or FEW_ROWS: accept it, and later ones with the same share are published.",
    });
  });

  test.each([
    ["is empty", [], "The list is empty."],
    ["has entries without a uuid", ['{"id":"x"}', "7"], "2 of 2 entries have no valid uuid, with which"],
  ])("warns where the list %s", async (_, extra, problem) => {
    await using sandbox = await Sandbox.start({ events: [], list: { extra } });

    const checks = saidChecks(await check(sandbox.ports(), sandbox.settings));

    expect(checks.find(({ name }) => name === "list")).toMatchObject({
      ok: true,
      remedy: expect.stringContaining(problem),
    });
  });

  test("tries no more details than a quarter of what the budget has, but three", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(60) }, { requestsPerMinute: 20 });

    await check(sandbox.ports(), sandbox.settings);

    expect(sandbox.simulator.counts.details).toBe(4);
  });

  test("tries the service also where the store fails, for no run can work there either", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const store = interposed(sandbox.store, async () => {
      throw new SyncError("STORE_FAILED", "The disk is full.");
    });

    const checks = saidChecks(await check(sandbox.ports({ store }), sandbox.settings));

    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["credentials", true],
      ["login", true],
      ["list", true],
      ["detail", true],
      ["store", false],
    ]);
  });

  test("is waited for by a run", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3), latencyMs: 3_000 });

    const checking = check(sandbox.ports(), sandbox.settings);
    while (sandbox.simulator.counts.requests === 0) await sandbox.clock.sleep(100);
    const { row } = await sandbox.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect((await checking).every(({ ok }) => ok)).toBe(true);
    expect(sandbox.log.text).toContain("waits up to a minute for the command check to end");
  });
});

const SAMPLE = 25;

/** Of those that ask the service: each has the lease of its account, and the budget that goes with it. */
type Command = (ports: RunPorts, settings: RunSettings) => Promise<unknown>;

describe.each<{ readonly name: string; readonly command: Command }>([
  { name: "check", command: check },
  { name: "discover", command: (ports, settings) => discover(ports, settings, SAMPLE) },
])("$name", ({ command }) => {
  test("keeps the limit together with the run before it and the run after it", async () => {
    const windowMs = 30_000;
    await using sandbox = await Sandbox.start(
      { events: makeEvents(34), limits: { requestsPerWindow: 40, windowMs } },
      { requestsPerMinute: 80, windowMs },
    );
    await sandbox.run();

    await command(sandbox.ports(), sandbox.settings);
    const lease = sandbox.store.text(LEASE);
    const { row } = await sandbox.run();

    expect(lease).toContain('"run_id":null');
    expect(row.outcome).toBe("PUBLISHED");
    const { statuses, fullestWindow } = sandbox.simulator.counts;
    expect(statuses.get(429)).toBeUndefined();
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test("stops when another process takes the lease meanwhile, and leaves it that", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(50) }, { concurrency: 1 });
    await sandbox.run();
    sandbox.simulator.reset();
    sandbox.simulator.configure({ latencyMs: 3_000 });

    const working = command(sandbox.ports(), sandbox.settings);
    while (sandbox.simulator.counts.details === 0) await sandbox.clock.sleep(100);
    sandbox.store.put(LEASE, livingLease(sandbox.clock.now()));

    expect(JSON.stringify(await working)).toContain("LEASE_LOST");
    expect(sandbox.store.text(LEASE)).toContain("run-1");
    expect(sandbox.simulator.counts.details).toBeLessThan(SAMPLE);
  });

  test("frees the lease also where the login is refused", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(2) });
    await sandbox.run();
    sandbox.simulator.configure({ account: { disabled: true } });
    sandbox.simulator.endSessions();

    const ended = await command(sandbox.ports(), sandbox.settings).catch((error: unknown) => error);

    expect(JSON.stringify(ended)).toContain("ACCOUNT_DISABLED");
    expect(sandbox.store.text(LEASE)).toContain('"run_id":null');
  });
});
