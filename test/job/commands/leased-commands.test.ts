// The commands that ask the service: each has the lease of its account, and the budget that goes with it.

import { describe, expect, test } from "vitest";
import { check } from "../../../lambdas/job/commands/check.ts";
import { discover } from "../../../lambdas/job/commands/discover.ts";
import { verify } from "../../../lambdas/job/commands/verify.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { livingLease } from "../run/lease/lease-world.ts";
import { ACCOUNT, Sandbox } from "../run/sandbox.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;
const SAMPLE = 25;

type Command = (ports: RunPorts, settings: RunSettings) => Promise<unknown>;

describe.each<{ readonly name: string; readonly command: Command }>([
  { name: "check", command: check },
  { name: "discover", command: (ports, settings) => discover(ports, settings, SAMPLE) },
  { name: "verify", command: (ports, settings) => verify(ports, settings, SAMPLE) },
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
