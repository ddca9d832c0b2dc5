import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { hold } from "../../../../lambdas/job/run/record/held-mark.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { FIRST, HandOverWorld, RUN } from "../hand-over/hand-over-world.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, heldWorld, SmallWorld } from "../small-world.ts";

const keys = layout(ACCOUNT);
const OWN = "2026-01-03T00-00-00.000Z";

/** A run of 12 events whose first invocation has fetched all of them, and has made no snapshot. */
async function staged() {
  const world = new HandOverWorld({ events: 12, rangeEvents: 4 });
  await world.first({ timeLeftMs: () => (world.small.details < 12 ? 900_000 : 0) });
  return { world, store: world.small.store, arn: world.executions.arnOf(FIRST) };
}

describe("a turn that publishes", () => {
  test("publishes nothing where its execution has lost the lease while it was stopped [D24]", async () => {
    const { world, store, arn } = await staged();
    const lease = { ...world.lease(), execution: `${arn}-of-another` };
    const slow: Store = {
      ...interposed(store, async (key) => {
        if (key !== keys.manifest(RUN)) return;
        store.put(keys.lease, JSON.stringify(lease));
        world.small.clock.advance(60_000);
      }),
      replace: async (key, bytes, version) => {
        await setTimeout(100);
        return store.replace(key, bytes, version);
      },
    };

    const { result } = await world.turn(arn, 0, { store: slow });

    expect(result.row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_LOST" });
    expect(store.keys("publications/")).toEqual([]);
    expect(store.keys("changes/")).toEqual([]);
  });

  test("has brought the run further where it only named parts", async () => {
    const { world, store, arn } = await staged();
    const timeLeftMs = () => (store.keys(keys.snapshot(RUN)).length > 0 ? 0 : 900_000);

    const { result } = await world.turn(arn, 0, { timeLeftMs });

    expect(result.row).toMatchObject({ outcome: "HANDED_OVER", reason: "TIME_LIMIT" });
    expect((await world.play()).at(-1)?.row.outcome).toBe("PUBLISHED");
  });
});

/** A person does something once the snapshot of the run is made and its preview is being computed. */
function whileCompared({ store }: SmallWorld, act: () => Promise<unknown>): Store {
  let isDone = false;
  return {
    ...interposed(store),
    open: async (key) => {
      if (!isDone && key.startsWith(keys.snapshot(OWN)) && store.text(keys.manifest(OWN))) {
        isDone = true;
        await act();
      }
      return store.open(key);
    },
  };
}

describe("a snapshot that is held", () => {
  test("is compared again where readers see another snapshot by then, and none of its changes are written", async () => {
    const { world, first } = await heldWorld();
    const store = whileCompared(world, () => world.rollback(first, false));

    const { row } = await world.run({ runId: OWN }, { store });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(JSON.parse(world.store.text(keys.held(OWN)) ?? "").preview.base_snapshot_id).toBe(first);
    expect(world.store.keys("changes/").filter((key) => key.includes(OWN))).toEqual([]);
  });

  test("is not held again where another process of the run has held it and a person has accepted it", async () => {
    const { world } = await heldWorld();
    world.clock.advance(3 * 24 * 3_600_000);
    const store = whileCompared(world, async () => {
      const mark = { reason: "DROPPED", explanation: "There are fewer events." } as const;
      await hold(world.own, OWN, mark, world.clock.now());
      await world.accept(OWN);
    });

    const { row } = await world.run({ runId: OWN }, { store });

    expect(row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD" });
    expect(world.store.keys("publications/")).toHaveLength(3);
  });

  test("says in its preview that the account is pinned as well, and names no list where no event is left out", async () => {
    const { world, second } = await heldWorld();
    await world.rollback(second);

    const { row, explanation } = await world.run({ runId: OWN });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(JSON.parse(world.store.text(keys.held(OWN)) ?? "").preview.pinned).toBe(true);
    expect(explanation).not.toContain(keys.leftOut(OWN));
  });
});

describe("what a run says of the columns of one's own", () => {
  const EMPTY = "the column nothing (/nothing:INTEGER) is empty in all";

  /** Reading a snapshot takes so long that a run which does not wait for it ends first. */
  async function described(events: number) {
    const world = new SmallWorld();
    await world.publish(10);
    world.settings = { ...world.settings, lifted: [{ name: "nothing", pointer: "/nothing:INTEGER" }] };
    world.show(events, 2);
    const slow: Store = {
      ...interposed(world.store),
      read: async (key) => {
        if (key.endsWith("_manifest.json")) await setTimeout(8);
        return world.store.read(key);
      },
      open: async (key) => {
        await setTimeout(8);
        return world.store.open(key);
      },
    };
    const { row } = await world.run({}, { store: slow });
    return { row, text: world.log.text };
  }

  test("is said before it ends", async () => {
    const { row, text } = await described(10);

    expect(row.outcome).toBe("PUBLISHED");
    expect(text).toContain(EMPTY);
  });

  test("is said of the columns where the snapshot is held", async () => {
    const { row, text } = await described(5);

    expect(row.outcome).toBe("HELD");
    expect(text).toContain(EMPTY);
  });
});

const SECOND_MS = 1000;

function twelveEvents(): SmallWorld {
  const world = new SmallWorld();
  world.show(12);
  return world;
}

const refuseService: RunPorts["openService"] = async () => {
  throw new Error("no request is expected");
};

describe("publishing in limited time", () => {
  test.each([
    ["its publication", [], { outcome: "PUBLISHED", added: 12 }],
    ["its comparison, where it is to be held", ["/nothing"], { outcome: "HELD", reason: "REQUIRED" }],
  ])("stops between the snapshot and %s; the next start goes on", async (_, require, ends) => {
    const world = twelveEvents();
    world.settings = { ...world.settings, require };
    const endMs = world.clock.now() + 100 * SECOND_MS;
    const store = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) world.clock.advance(75 * SECOND_MS);
    });

    const first = await world.run({ runId: OWN }, { store, timeLeftMs: () => endMs - world.clock.now() });
    const made = world.store.keys().filter((key) => /^publications|_held/.test(key));
    const next = await world.run({ runId: OWN }, { openService: refuseService });

    expect(first.error?.message).toContain("the snapshot of 12 events is made");
    expect(first.row.snapshot_id).toBe(OWN);
    expect(made).toEqual([]);
    expect(next.row).toMatchObject(ends);
  });

  test("is stopped by the signal while it compares rows that have not changed, and frees the lease", async () => {
    const world = twelveEvents();
    const head = (await world.run()).row.snapshot_id ?? "";
    const stop = new AbortController();
    const stopped = new SyncError("INTERRUPTED", "the time is up");
    let compared = 0;
    const store: Store = {
      ...world.own,
      open: (key) => {
        // The rows of the head are read for nothing but the comparison.
        if (key === layout(ACCOUNT).part(head, 0) && ++compared > 0) stop.abort(stopped);
        return world.store.open(key);
      },
    };

    const { error } = await world.run({ runId: OWN }, { store, signal: stop.signal });

    expect(compared).toBe(1);
    expect(error).toBe(stopped);
    expect(world.store.keys(layout(ACCOUNT).publications)).toHaveLength(1);
    expect(JSON.parse(world.store.text(layout(ACCOUNT).lease) ?? "")).toMatchObject({ run_id: null });
  });
});
