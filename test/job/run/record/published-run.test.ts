// A run whose publication exists is finished, whatever has happened since: never adopted, held or published again.

import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import {
  publishedRun,
  recordPublishedRun,
  recordUnrecorded,
} from "../../../../lambdas/job/run/record/published-run.ts";
import { readRunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { readLog } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { settled } from "../../../simulator/manual-clock.ts";
import { interposed, interposedOnce, watched } from "../interposed-store.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const PUBLISHES = "create publications/";
const SCHEDULED = "2026-01-05T06-00-00.000Z";

const log = async (world: SmallWorld): Promise<readonly string[]> =>
  (await readLog(world.own)).map(({ action, snapshot_id }) => `${action} ${snapshot_id}`);
const outcome = async (world: SmallWorld, runId: string): Promise<string | undefined> =>
  (await readRunResult(world.own, runId))?.row.outcome;
const heldMark = (world: SmallWorld, runId: string): string | undefined =>
  world.store.text(layout(ACCOUNT).held(runId));

describe("a run that crashed just after its publication existed", () => {
  test("gets its outcome from the next manual start, which makes a run of its own [D20]", async () => {
    world.show(10, 1);
    const dead = await world.crash(PUBLISHES);

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0 });
    expect(row.run_id).not.toBe(dead);
    expect(world.details).toBe(20);
    expect((await readRunResult(world.own, dead))?.row).toMatchObject({
      outcome: "PUBLISHED",
      snapshot_id: dead,
      listed: 10,
      events: 10,
      added: 10,
      requests: null,
    });
    expect(await log(world)).toEqual([`run ${dead}`, `run ${row.run_id}`]);
  });

  test("gets the base from an earlier version's publication that was compared with an older snapshot", async () => {
    const [first, second] = [await world.publish(10, 1), await world.publish(10, 2)];
    world.show(10, 3);
    const dead = await world.crash(PUBLISHES);
    const key = layout(ACCOUNT).publication("0000000003");
    const bases = [second, first].map((id) => `"base_snapshot_id":"${id}"`) as [string, string];
    world.store.put(key, world.store.text(key)?.replace(...bases) ?? "");

    await world.run();

    const result = await readRunResult(world.own, dead);
    expect(result?.row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD" });
    expect(result?.explanation).toMatch(new RegExp(`^restart: the changes are those against ${first}\\.`));
  });

  test.each([
    {
      what: "pins an older snapshot",
      ...{ pin: true, back: 0 },
      ends: { outcome: "HELD", reason: "PINNED" },
    },
    {
      what: "goes back to a larger one",
      ...{ pin: false, back: 0 },
      ends: { outcome: "PUBLISHED", changed: 18, removed: 2 },
    },
    {
      what: "has a clock two days back",
      ...{ pin: false, back: 2 },
      ends: { outcome: "PUBLISHED", changed: 18, removed: 2 },
    },
  ])("is neither held nor published again by the next manual start when a rollback $what", async (one) => {
    const largest = await world.publish(20, 1);
    const second = await world.publish(17, 2);
    world.clock.advance(3 * DAY_MS);
    world.show(14, 3);
    const dead = await world.crash(PUBLISHES);
    world.clock.advance(-one.back * DAY_MS);
    await world.rollback(largest, one.pin);
    world.show(18, 4);
    const before = world.details;

    const { row } = await world.run();

    expect(row).toMatchObject(one.ends);
    expect(row.run_id).not.toBe(dead);
    expect(world.details - before).toBe(18);
    expect(heldMark(world, dead)).toBeUndefined();
    expect(await outcome(world, dead)).toBe("PUBLISHED");
    const lines = [`run ${largest}`, `run ${second}`, `run ${dead}`, `rollback ${largest}`];
    expect((await log(world)).filter((line) => line !== `run ${row.run_id}`)).toEqual(lines);
  });

  test.each([
    { what: "pins an older snapshot", pin: true, back: 0 },
    { what: "goes back without a pin", pin: false, back: 0 },
    { what: "has a clock two days back", pin: false, back: 2 },
  ])(
    "is reported as published to a retry of its trigger, without a request, when a rollback $what [D20]",
    async ({ pin, back }) => {
      const first = await world.publish(20, 1);
      world.clock.advance(4 * DAY_MS);
      world.show(17, 2);
      await world.crash(PUBLISHES, { runId: SCHEDULED });
      world.clock.advance(-back * DAY_MS);
      await world.rollback(first, pin);
      const before = world.details;

      const retried = await world.run({ runId: SCHEDULED });
      const again = await world.run({ runId: SCHEDULED });

      expect(retried.row).toMatchObject({ outcome: "PUBLISHED", changed: 17, removed: 3 });
      expect(again).toEqual({ ...retried, isRepeat: true });
      expect(world.details).toBe(before);
      expect(heldMark(world, SCHEDULED)).toBeUndefined();
      expect(await log(world)).toEqual([`run ${first}`, `run ${SCHEDULED}`, `rollback ${first}`]);
    },
  );

  test("has its outcome recorded also where its files are retired and deleted by then", async () => {
    const first = await world.publish(10, 1);
    world.show(10, 2);
    const dead = await world.crash(PUBLISHES);
    await world.rollback(first, false);
    for (const key of world.store.keys(layout(ACCOUNT).snapshot(dead))) await world.store.delete([key]);
    const retired_at = new Date(world.clock.now()).toISOString();
    world.store.put(layout(ACCOUNT).retired(dead), `${JSON.stringify({ retired_at })}\n`);

    const { row } = await world.run();

    expect(row.run_id).not.toBe(dead);
    expect((await readRunResult(world.own, dead))?.row).toMatchObject({
      outcome: "PUBLISHED",
      listed: null,
      events: 10,
      added: 0,
      changed: 10,
      removed: 0,
    });
  });
});

describe("a slow process of a run that another one has published meanwhile", () => {
  test.each([
    { what: "is pinned", pin: true },
    { what: "has a larger head", pin: false },
  ])("ends as PUBLISHED and holds nothing, though the account $what by then", async ({ pin }) => {
    const largest = await world.publish(20, 1);
    await world.publish(17, 2);
    world.show(14, 3);
    const overtakes: unknown[] = [];
    const store = interposedOnce(world.store, `${SCHEDULED}/_manifest.json`, async () => {
      await world.store.delete([layout(ACCOUNT).lease]);
      overtakes.push((await world.run({ runId: SCHEDULED })).row.outcome);
      await world.rollback(largest, pin);
    });

    const { row } = await world.run({ runId: SCHEDULED }, { store });

    expect(overtakes).toEqual(["PUBLISHED"]);
    expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 14, removed: 3 });
    expect(heldMark(world, SCHEDULED)).toBeUndefined();
    expect((await log(world)).filter((line) => line === `run ${SCHEDULED}`)).toHaveLength(1);
  });
});

describe("a run that crashed when its snapshot was just held", () => {
  /** Held, accepted by a person, and rolled back: the log names the snapshot, but no publication of the run. */
  async function acceptedAndRolledBack(
    start: { readonly runId?: string } = {},
  ): Promise<{ world: SmallWorld; held: string }> {
    const world = new SmallWorld();
    const first = await world.publish(10, 1);
    world.show(5, 2);
    const held = await world.crash("_held.json", start);
    expect((await world.accept(held)).row.outcome).toBe("PUBLISHED");
    await world.rollback(first, false);
    return { world, held };
  }

  test("is not adopted once a person has accepted it", async () => {
    const { world, held } = await acceptedAndRolledBack();
    world.show(10, 3);

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 10 });
    expect(row.run_id).not.toBe(held);
    expect(await outcome(world, held)).toBe("HELD");
  });

  test("ends as HELD for a retry of its trigger, though its guard would let it pass now [D11]", async () => {
    const first = await world.publish(10, 1);
    world.show(5, 2);
    await world.crash("_held.json", { runId: SCHEDULED });
    world.settings = { ...world.settings, maxDropPercent: 100 };

    const { row } = await world.run({ runId: SCHEDULED });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED", events: 5 });
    expect((await readLog(world.own)).map(({ snapshot_id }) => snapshot_id)).toEqual([first]);
  });

  test("has no counts where its manifest is damaged by then, and says why it was held", async () => {
    const { world, held } = await acceptedAndRolledBack();
    world.store.put(layout(ACCOUNT).manifest(held), "{");

    const found = await publishedRun(world.own, held);

    expect(found).toMatchObject({ counts: { events: null, added: null }, publication: undefined });
    expect(found?.end.explanation).toMatch(/^5 events are 50\.0 % fewer than .* was held at first;/);
  });

  test("ends as HELD for a retry of its trigger, which says that it was accepted", async () => {
    const { world } = await acceptedAndRolledBack({ runId: SCHEDULED });

    const { row, explanation } = await world.run({ runId: SCHEDULED });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED", events: 5 });
    expect(explanation).toContain("a person has published it since (publication 0000000002)");
  });
});

describe("what a run could not record", () => {
  /** Creates a file only after many turns of the event loop: what is not waited for is not there yet. */
  const slowly = (world: SmallWorld): Store =>
    interposed(world.store, async () => {
      await settled();
    });

  /** A crashed run, whose row is there unless the crash was earlier. */
  async function unrecorded(crash: "create publications/" | "create run-log/", start = {}) {
    const world = new SmallWorld();
    world.show(10, 1);
    const dead = await world.crash(crash, start);
    const rows = (): readonly string[] => world.store.keys(`run-log/${ACCOUNT}/${dead}`);
    return { world, dead, rows, ports: world.ports({ store: slowly(world) }) };
  }

  test("is its outcome, of the row that says PUBLISHED, which is written once", async () => {
    const { world, dead, rows, ports } = await unrecorded("create run-log/");
    const [key = ""] = rows();
    const text = world.store.text(key) ?? "";
    const later = text.replace('"attempt":1', '"attempt":2').replace('"PUBLISHED"', '"HANDED_OVER"');
    world.store.put(key.replace("-1.ndjson", "-2.ndjson"), later);

    expect(await recordPublishedRun(ports, dead)).toBe(true);
    expect((await readRunResult(ports.store, dead))?.row).toMatchObject({ outcome: "PUBLISHED", attempt: 1 });
    expect(rows()).toHaveLength(2);
  });

  test.each(["a run", "a head"])("is row and outcome: they are there once %s is recorded", async (what) => {
    const { dead, rows, ports } = await unrecorded("create publications/", { runId: SCHEDULED });
    const [own] = await readLog(ports.store);
    if (own === undefined) throw new Error("nothing is published");

    if (what === "a run") expect(await recordPublishedRun(ports, dead)).toBe(true);
    else await recordUnrecorded(ports, own);

    expect(rows()).toHaveLength(1);
    expect((await readRunResult(ports.store, dead))?.row).toMatchObject({
      outcome: "PUBLISHED",
      trigger: "schedule",
    });
  });

  test.each([
    { days: 398, lines: 1 },
    { days: 400, lines: 0 },
  ])("is $lines line where the run was $days days ago: older ones have expired", async ({ days, lines }) => {
    const id = await world.publish(10, 1);
    const [own] = await readLog(world.own);
    if (own === undefined) throw new Error("nothing is published");
    const rows = (): readonly string[] => world.store.keys(`run-log/${ACCOUNT}/${id}`);
    await world.store.delete(rows());
    world.clock.advance(days * DAY_MS);

    await recordUnrecorded(world.ports(), own);

    expect(rows()).toHaveLength(lines);
  });

  test("ends the start where it cannot be written either", async () => {
    const { world, dead } = await unrecorded("create publications/");
    const full = new SyncError("STORE_FAILED", "The disk is full.");
    const ports = world.ports({ store: interposed(world.store, () => Promise.reject(full)) });

    await expect(recordPublishedRun(ports, dead)).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});

test("a new run reads the head, and of a long log only what leads to it", async () => {
  for (let version = 1; version <= 12; version += 1) await world.publish(10, version);
  const { store, reads } = watched(world.store);
  const until = interposed(store, async (key) => {
    if (key.startsWith("publications/")) throw new Error("this far");
  });

  await expect(world.run({ runId: SCHEDULED }, { store: until })).rejects.toThrow("this far");

  // Doubling from the first, halving, the head.
  const numbers = ["02", "03", "05", "09", "17", "13", "11", "12"].map((number) => `00000000${number}`);
  const ofLog = new Set(reads.filter((key) => key.startsWith("publications/")));
  expect([...ofLog]).toEqual(numbers.map((number) => layout(ACCOUNT).publication(number)));
});
