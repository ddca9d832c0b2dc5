import { describe, expect, test } from "vitest";
import { leaseAccount } from "../../../../lambdas/job/run/lease/lease-account.ts";
import { CrashPoint } from "../crash.ts";
import { livingLease } from "../living-lease.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;
const OLD_RUN = "2025-01-01T00-00-00.000Z";

function limited(): SmallWorld {
  return new SmallWorld({ requestsPerMinute: 40, bytesPerMinute: 1_000 });
}

/** A process on another computer has crashed, and its lease has just expired. */
function leaveExpiredLease({ store, clock }: SmallWorld): void {
  store.put(LEASE, livingLease(clock.now()));
  clock.advance(60_001);
}

function carried({ store }: SmallWorld): unknown {
  return JSON.parse(store.text(LEASE) ?? "").use;
}

const FULL_WINDOW = [{ requests: 40, bytes: 1_000 }];

describe("what a crashed process may have sent is a full window, and stays in the lease", () => {
  test("when the next holder frees the lease at once", async () => {
    const world = limited();
    leaveExpiredLease(world);

    const leased = await leaseAccount(world.ports(), world.settings, {
      runId: OLD_RUN,
      waitForOwnRun: false,
      waitForCommand: false,
    });
    if ("takenBy" in leased) throw new Error("the lease is taken");
    await leased.lease.release();

    expect(carried(world)).toMatchObject(FULL_WINDOW);
  });

  test("when the next start is superseded", async () => {
    const world = limited();
    world.show(3);
    await world.run();
    leaveExpiredLease(world);

    const { row } = await world.run({ runId: OLD_RUN });

    expect(row.outcome).toBe("SUPERSEDED");
    expect(carried(world)).toMatchObject(FULL_WINDOW);
  });

  test("when the next start publishes what is staged, without a request", async () => {
    const world = limited();
    world.show(3);
    const ports = world.ports();
    const point = new CrashPoint("create snapshots/");
    await expect(world.run({}, { ...ports, ...point.wrap(ports) })).rejects.toThrow("the process");
    world.dead.add(ports.process.pid ?? 0);
    const { details } = world;

    const { row } = await world.run();

    expect([row.outcome, world.details]).toEqual(["PUBLISHED", details]);
    expect(carried(world)).toMatchObject(FULL_WINDOW);
  });
});
