import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { RunStart } from "../../../../lambdas/job/run/run.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { interposed } from "../interposed-store.ts";
import { livingLease } from "../lease/lease-world.ts";
import { serviceWith } from "../run-defaults.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN, SECOND, SMALL } from "./hand-over-world.ts";
import { withoutStart } from "./memory-executions.ts";

async function handedOver(options: Partial<typeof SMALL> & { readonly maxTurns?: number } = {}) {
  const world = new HandOverWorld({ ...SMALL, ...options });
  await world.first({ timeLeftMs: () => (world.small.details < 4 ? 900_000 : 0) });
  return { world, arn: world.executions.arnOf(FIRST) };
}

describe("a turn", () => {
  test("that stops early leaves the lease to its execution, with the use of the budget", async () => {
    const { world, arn } = await handedOver();

    const { isDone, waitSeconds, result } = await world.turn(arn, 0);

    expect({ isDone, waitSeconds }).toEqual({ isDone: false, waitSeconds: 0 });
    expect(result.row).toMatchObject({ outcome: "HANDED_OVER" });
    expect(world.lease()).toMatchObject({ run_id: RUN, holder: null, execution: arn, expires_at: null });
  });

  test.each([
    ["and frees a lease that was left behind", true],
    ["also where the lease is free", false],
  ])("of a run that is finished is done, %s", async (_, isLeft) => {
    const { world, arn } = await handedOver();
    const left = world.small.store.text(layout(ACCOUNT).lease) ?? "";
    await world.play();
    if (isLeft) world.small.store.put(layout(ACCOUNT).lease, left);

    const { isDone, result } = await world.turn(arn, 9);

    expect(isDone).toBe(true);
    expect(result).toMatchObject({ isRepeat: true, row: { outcome: "PUBLISHED" } });
    expect(world.lease()).toMatchObject({ run_id: null });
    expect(world.small.details).toBe(12);
  });

  test.each<[string, Partial<RunStart>, (world: HandOverWorld) => Promise<unknown>, object]>([
    [
      "over a damaged head",
      { overDamaged: true },
      async ({ small }) => {
        const { row } = await small.run();
        small.store.put(layout(ACCOUNT).part(row.snapshot_id ?? "", 0), "damaged");
        small.show(12, 2);
      },
      { reason: "DAMAGED_HEAD", added: 12 },
    ],
    [
      "over a head in the future",
      {},
      async ({ small }) => {
        small.clock.set(10 * 24 * 3_600_000);
        await small.run();
        small.clock.set(-10 * 24 * 3_600_000);
      },
      { reason: null, added: 0 },
    ],
  ])("publishes as the start was told to: %s", async (_, start, prepare, ends) => {
    const world = new HandOverWorld(SMALL);
    await prepare(world);
    world.small.clock.advance(60_000);
    const fetched = world.small.details;
    const ports = world.ports({ timeLeftMs: () => (world.small.details < fetched + 4 ? 900_000 : 0) });

    const first = await world.small.run(start, ports);
    const results = await world.play();

    expect(first.row.outcome).toBe("HANDED_OVER");
    const run_id = first.row.run_id;
    expect(results.at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", run_id, ...ends });
  });

  test.each<[string, (world: HandOverWorld) => Promise<object>]>([
    [
      "another run",
      async ({ small }) => JSON.parse(livingLease(small.clock.now(), { run_id: "2026-01-03T06-00-00.000Z" })),
    ],
    [
      "another execution, even of one that has ended",
      async (world) => {
        const second = world.executions.arnOf(SECOND);
        await world.executions.start(SECOND, { account: ACCOUNT, runId: RUN, turn: 0 });
        world.executions.end(second, "FAILED");
        return { ...world.lease(), execution: second };
      },
    ],
  ])("that meets the lease of %s is done, and changes nothing", async (_, leaseOf) => {
    const { world, arn } = await handedOver();
    const theirs = await leaseOf(world);
    world.small.store.put(layout(ACCOUNT).lease, JSON.stringify(theirs));

    const { isDone, result } = await world.turn(arn, 0);

    expect(isDone).toBe(true);
    expect(result.row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(world.lease()).toEqual(theirs);
  });

  test("records nothing once the lease names another execution, and writes nothing over it [D24]", async () => {
    const { world, arn } = await handedOver();
    const theirs = { run_id: RUN, holder: null, execution: world.executions.arnOf(SECOND), use: [] };
    const at = "2026-01-01T00:00:00.000Z";
    const dates = { renewed_at: at, expires_at: null, use_since: at };
    const store = interposed(world.small.store, async (key) => {
      if (key.includes("/rows-"))
        world.small.store.put(layout(ACCOUNT).lease, JSON.stringify({ ...theirs, ...dates }));
    });
    const inTime = { store, timeLeftMs: () => 900_000 };
    const staged = world.small.store.keys("runs/").filter((key) => key.includes("/record-")).length;

    const { result } = await world.turn(arn, 0, inTime);

    expect(world.small.store.keys("runs/").filter((key) => key.includes("/record-"))).toHaveLength(staged);
    expect(result.row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_LOST" });
    expect(world.lease()).toEqual({ ...theirs, ...dates });
  });
});

test.each([
  ["that the service has asked for", 300_000, 300],
  ["that the service has not asked for", 0, 0],
])(
  "a turn whose time ends in a pause %s leaves the rest of it to the state machine",
  async (_, pauseMs, seconds) => {
    const { world, arn } = await handedOver();
    const stop = new AbortController();
    const ports = world.ports({ signal: stop.signal });
    let details = 0;
    const pausing = serviceWith(ports, (service, limiter) => ({
      detail: async (requestAs, signal) => {
        details += 1;
        if (details < 3) return service.detail(requestAs, signal);
        limiter.pause(pauseMs, true);
        stop.abort(new SyncError("INTERRUPTED", "The time limit was reached."));
        throw stop.signal.reason;
      },
    }));

    const { result, waitSeconds } = await world.turn(arn, 0, { ...ports, ...pausing });

    expect(result.row).toMatchObject({ outcome: "HANDED_OVER", reason: "TIME_LIMIT" });
    expect(waitSeconds).toBe(seconds);
  },
);

describe("a turn that fails", () => {
  /** Between two control questions time passes. */
  const failing = (world: HandOverWorld, error: SyncError) =>
    serviceWith(world.ports(), () => ({
      detail: () => {
        setImmediate(() => world.small.clock.advance(5_000));
        return Promise.reject(error);
      },
    }));

  test("with an error that a retry may fix leaves the lease to its execution", async () => {
    const { world, arn } = await handedOver();
    const down = new SyncError("SERVICE_UNAVAILABLE", "The service is down.");

    await expect(world.turn(arn, 0, failing(world, down))).rejects.toBe(down);

    expect(world.lease()).toMatchObject({ run_id: RUN, execution: arn, holder: null });
    expect(world.log().at(-1)).toMatchObject({ outcome: "FAILED", trigger: "schedule" });
    expect((await world.play()).at(-1)?.row.outcome).toBe("PUBLISHED");
    expect(world.small.details).toBe(12);
  });

  test("before it has the lease, because of the store, leaves the lease where it is", async () => {
    const { world, arn } = await handedOver();
    const down = new SyncError("STORE_FAILED", "The store is down.");
    const { store } = world.small;
    const replace = (key: string, bytes: Uint8Array, version: string) =>
      key === layout(ACCOUNT).lease ? Promise.reject(down) : store.replace(key, bytes, version);
    const failingStore = { ...interposed(store), replace };

    await expect(world.turn(arn, 0, { store: failingStore })).rejects.toBe(down);

    expect(world.lease()).toMatchObject({ run_id: RUN, execution: arn, holder: null });
    expect((await world.play()).at(-1)?.row.outcome).toBe("PUBLISHED");
  });

  test("for good frees the lease and finishes the run", async () => {
    const { world, arn } = await handedOver();
    const refused = new SyncError("NOT_ENTITLED", "The account may not.");

    await expect(world.turn(arn, 0, failing(world, refused))).rejects.toBe(refused);

    expect(world.lease()).toMatchObject({ run_id: null });
    expect(world.small.store.text(layout(ACCOUNT).outcome(RUN))).toContain("NOT_ENTITLED");
  });

  test("because it has only made what was made before throws INTERRUPTED too", async () => {
    const { world, arn } = await handedOver({ limitSeconds: 900 });
    const { store } = world.small;
    const isMade = (): boolean => store.keys("snapshots/").some((key) => key.endsWith("_manifest.json"));
    let isRead = false;
    /** Enough for the parts, too little for the comparison with the head. */
    const untilMade = (): number => (isMade() && isRead ? 0 : 900_000);
    const reading = interposed(store, async (key) => {
      isRead ||= key.endsWith("_manifest.json");
    });

    const first = await world.turn(arn, 0, { store: reading, timeLeftMs: untilMade });
    isRead = false;
    const second = world.turn(arn, 1, { store: reading, timeLeftMs: untilMade });

    expect(first.result.row).toMatchObject({ outcome: "HANDED_OVER", snapshot_id: RUN });
    await expect(second).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect((await world.play()).at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", requests: null });
  });

  test("because it got no further throws INTERRUPTED, so that it is not repeated for ever", async () => {
    const { world, arn } = await handedOver();

    await expect(world.turn(arn, 0, { timeLeftMs: () => 0 })).rejects.toMatchObject({ code: "INTERRUPTED" });

    expect(world.lease()).toMatchObject({ execution: arn, holder: null });
  });
});

describe("the last turn of an execution", () => {
  test("moves the lease to the next execution and starts it, which finishes the run", async () => {
    const { world, arn } = await handedOver({ maxTurns: 1 });

    const { isDone, result } = await world.turn(arn, 0);
    world.executions.end(arn, "SUCCEEDED");

    expect(isDone).toBe(true);
    expect(result.handedOver?.execution).toBe(world.executions.arnOf(SECOND));
    expect(world.lease()).toMatchObject({ execution: world.executions.arnOf(SECOND), holder: null });
    expect(world.executions.running?.input).toEqual({ account: "uk", runId: RUN, turn: 0 });
    expect((await world.play()).at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", trigger: "schedule" });
    expect(world.small.details).toBe(12);
  });

  test("that is killed before it starts the next execution is repeated, and starts it", async () => {
    const { world, arn } = await handedOver({ maxTurns: 1 });
    const killed = new Error("killed");
    const executions = withoutStart(world.executions, killed);
    await expect(world.turn(arn, 0, { executions })).rejects.toBe(killed);

    const { isDone, result } = await world.turn(arn, 0);
    world.executions.end(arn, "SUCCEEDED");

    expect(isDone).toBe(true);
    expect(result.row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(world.executions.names).toEqual([FIRST, SECOND]);
    expect((await world.play()).at(-1)?.row.outcome).toBe("PUBLISHED");
    expect(world.small.details).toBe(12);
  });
});
