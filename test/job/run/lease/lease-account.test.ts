import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { acquireLease } from "../../../../lambdas/job/run/lease/acquire-lease.ts";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { encodeLease } from "../../../../lambdas/job/run/lease/lease-file.ts";
import { withLease } from "../../../../lambdas/job/run/open-account.ts";
import { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore, type Store } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { interposed } from "../interposed-store.ts";
import { worldWith } from "../run-defaults.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";
import { livingLease } from "./lease-world.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;
const OLD_RUN = "2025-01-01T00-00-00.000Z";

function limited(): SmallWorld {
  return new SmallWorld({ requestsPerMinute: 40, bytesPerMinute: 1_000 });
}

/** A process of this computer has crashed, and its lease has just expired. */
function leaveExpiredLease({ store, clock }: SmallWorld): void {
  store.put(LEASE, livingLease(clock.now(), { holder: { token: "another", host: "small" } }));
  clock.advance(60_001);
}

function carried({ store }: SmallWorld): unknown {
  return JSON.parse(store.text(LEASE) ?? "").use;
}

/** The store writes as slowly as one over a network, and remembers what. */
function slow({ store }: SmallWorld, written: string[] = []): Store {
  return {
    ...interposed(store),
    replace: async (key, bytes, version) => {
      written.push(key);
      await setImmediate();
      return store.replace(key, bytes, version);
    },
  };
}

async function leased(
  world: SmallWorld,
  written: string[] = [],
): Promise<{ readonly lease: Lease; readonly rateLimiter: RateLimiter }> {
  const ports = world.ports({ store: slow(world, written) });
  const lease = await acquireLease(ports, { runId: OLD_RUN, limits: world.settings });
  return { lease, rateLimiter: new RateLimiter({ ...world.settings, clock: ports.clock, carrier: lease }) };
}

const FULL_WINDOW = [{ requests: 40, bytes: 1_000 }];

describe("what a crashed process may have sent is a full window, and stays in the lease", () => {
  test("when the next holder crashes at once, or frees the lease", async () => {
    const world = limited();
    leaveExpiredLease(world);

    const { lease } = await leased(world);
    const held = carried(world);
    await lease.release();

    expect([held, carried(world)]).toMatchObject([FULL_WINDOW, FULL_WINDOW]);
  });

  test("when the next start is superseded", async () => {
    const world = limited();
    await world.publish(3);
    leaveExpiredLease(world);

    const { row } = await world.run({ runId: OLD_RUN });

    expect(row.outcome).toBe("SUPERSEDED");
    expect(carried(world)).toMatchObject(FULL_WINDOW);
  });

  test("when the next start publishes what is staged, without a request", async () => {
    const world = limited();
    world.show(3);
    await world.crash("create snapshots/", {}, "before");
    const { details } = world;

    const { row } = await world.run();

    expect([row.outcome, world.details]).toEqual(["PUBLISHED", details]);
    expect(carried(world)).toMatchObject(FULL_WINDOW);
  });
});

describe("the lease of an account", () => {
  test("is not written again where all use is known", async () => {
    const world = limited();
    await (await leased(world)).lease.release();
    const written: string[] = [];

    await leased(world, written);

    expect(written).toEqual([LEASE]);
  });

  test("has the use of a long window at once, when a minute's budget is used", async () => {
    const world = new SmallWorld({ requestsPerMinute: 4, windowMs: 600_000 });
    const { rateLimiter } = await leased(world);

    for (let n = 0; n < 4; n += 1) rateLimiter.tryAcquire("detail");
    await setImmediate();
    await setImmediate();

    expect(carried(world)).toMatchObject([{ requests: 3 }]);
  });

  test("is asked before a request, where it is overdue", async () => {
    const world = limited();
    const { rateLimiter } = await leased(world);

    world.clock.advance(60_000);

    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
  });
});

describe("a command", () => {
  test("has freed the lease when it ends", async () => {
    const world = limited();

    await withLease(world.ports({ store: slow(world) }), world.settings, "check", async () => undefined);

    expect(JSON.parse(world.store.text(LEASE) ?? "")).toMatchObject({ run_id: null });
  });

  test("that a person stopped says so, also where it has lost the lease", async () => {
    const world = limited();
    const stop = new AbortController();
    const ports = world.ports({ signal: stop.signal });

    const work = withLease(ports, world.settings, "check", async (_, { signal }) => {
      world.store.put(LEASE, livingLease(world.clock.now()));
      world.clock.advance(20_000);
      while (!signal.aborted) await setImmediate();
      stop.abort(new Error("stopped"));
      throw stop.signal.reason;
    });

    await expect(work).rejects.toThrow("stopped");
  });
});

const RUN = "2026-01-05T06-00-00.000Z";
const UNUSED = { use: [], windowMs: 60_000 };
const LIMITS = { requestsPerMinute: 100, bytesPerMinute: "unlimited", windowMs: 60_000 } as const;

/** A lease that was written now, and a limiter that asks it. */
async function leasedNow() {
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 6));
  const store = new MemoryStore(clock);
  const holder = { token: "ours" };
  const own = { store: accountStore(store, ACCOUNT), catalog: new MemoryCatalog(store) };
  const ports = { ...worldWith({ clock }), ...own };
  const lease = await Lease.take(ports, { run_id: RUN, holder, ...UNUSED }, undefined);
  if (lease === undefined) throw new Error("the lease is taken");
  return { clock, store, lease, rateLimiter: new RateLimiter({ ...LIMITS, clock, carrier: lease }) };
}

test("a request goes at once while the lease is younger than a minute", async () => {
  const { clock, rateLimiter } = await leasedNow();

  clock.advance(59_999);

  expect(rateLimiter.tryAcquire("detail")).toBeDefined();
});

test("a request of a process that was stopped for a minute waits until the lease is written again", async () => {
  const { clock, rateLimiter } = await leasedNow();
  clock.advance(60_000);

  const permit = rateLimiter.tryAcquire("detail");
  const later = await rateLimiter.acquire("detail");

  expect(permit).toBeUndefined();
  expect(later).toBeDefined();
});

test("a computer that slept, and whose monotonic clock stood still, asks as well", async () => {
  const { clock, rateLimiter } = await leasedNow();
  clock.set(60_000);

  expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
});

test("a request never goes where another process has taken the lease", async () => {
  const { clock, store, lease, rateLimiter } = await leasedNow();
  const other = { run_id: RUN, holder: { token: "theirs" }, ...UNUSED };
  store.put(layout(ACCOUNT).lease, encodeLease(other, clock.now()));
  clock.advance(60_000);

  const waiting = rateLimiter.acquire("detail", lease.lost);

  await expect(waiting).rejects.toThrow("Another process took over the lease");
});

test("a lease that is overdue is written once, and once more where it is overdue again", () => {
  let writes = 0;
  let written = (): void => undefined;
  const carrier = {
    earlier: [],
    isOverdue: true,
    record: async () => {
      writes += 1;
    },
    carry: (_: unknown, onWritten: () => void) => {
      written = onWritten;
    },
  };
  const rateLimiter = new RateLimiter({ ...LIMITS, clock: new ManualClock(0), carrier });
  const permits = [1, 2, 3].map(() => rateLimiter.tryAcquire("detail"));
  const first = writes;

  written();
  permits.push(rateLimiter.tryAcquire("detail"));

  expect(permits).toEqual([undefined, undefined, undefined, undefined]);
  expect([first, writes]).toEqual([1, 2]);
});
