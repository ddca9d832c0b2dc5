// `accept`, `rollback` and runs at the same time: whatever the moment, the log is one that some serial order gives.

import { describe, expect, test } from "vitest";
import type { RunResult } from "../../../../../lambdas/job/run/record/run-result.ts";
import { type Publication, readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import { CrashPoint } from "../../crash.ts";
import { type DueWorld, dueWorld } from "../../held-world.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, type SmallWorld } from "../../small-world.ts";

type Work = (due: DueWorld, ports?: object) => Promise<RunResult>;
const run: Work = ({ world }, ports = {}) => world.run({}, ports);
const accept: Work = ({ world, held }, ports = {}) =>
  world.acceptOrRollback({ action: "accept", snapshotId: held, force: false }, ports);
const rollback: Work = ({ world, first }, ports = {}) =>
  world.acceptOrRollback({ action: "rollback", snapshotId: first, pin: true }, ports);

async function effectsOf(work: Work): Promise<number> {
  const one = await dueWorld();
  const point = new CrashPoint(Number.POSITIVE_INFINITY);
  await work(one, point.wrap(one.world));
  return point.effects.length;
}

/** `outer` works; just before its n-th creation `inner` does all of its own work. */
async function interleave(
  outer: Work,
  inner: Work,
  at: number,
): Promise<DueWorld & { readonly results: readonly RunResult[] }> {
  const one = await dueWorld();
  const results: RunResult[] = [];
  let creations = 0;
  const store = interposed(one.world.store, async () => {
    creations += 1;
    if (creations === at) results.push(await inner(one));
  });
  results.push(await outer(one, { store }));
  return { ...one, results };
}

/** What section 6 says of every entry, given the one before it. */
function obeys(log: readonly Publication[]): void {
  for (const [index, entry] of log.entries()) {
    const before = log[index - 1];
    expect(entry.base_snapshot_id).toBe(before?.snapshot_id ?? null);
    if (before === undefined || entry.action === "rollback") continue;
    if (entry.action === "run") expect(before.pinned).toBe(false);
    expect(entry.snapshot_id >= before.snapshot_id).toBe(true);
  }
}

async function check({
  world,
  results,
}: {
  world: SmallWorld;
  results: readonly RunResult[];
}): Promise<void> {
  const log = await readLog(world.own);
  const head = log.at(-1);
  obeys(log);
  const seen = await world.seen();
  expect(world.catalog.head(ACCOUNT)).toEqual(head);
  expect(seen.size).toBe(head?.events);
  const published = results.filter(({ row }) => row.outcome === "PUBLISHED");
  expect(log.length).toBe(1 + published.length);
  for (const { row, error } of results) {
    expect(error).toBeUndefined();
    expect(["PUBLISHED", "HELD", "SUPERSEDED", "SKIPPED"]).toContain(row.outcome);
    const own = log.find(({ run_id }) => run_id === row.run_id);
    expect(own !== undefined).toBe(row.outcome === "PUBLISHED");
    expect(own?.added ?? null).toBe(row.outcome === "PUBLISHED" ? row.added : null);
  }
  const events = new Map<string, string>();
  for (const line of await world.catalog.changes(ACCOUNT)) {
    const { uuid, before, after } = JSON.parse(line);
    expect(events.get(uuid) ?? null).toBe(before);
    if (after === null) events.delete(uuid);
    else events.set(uuid, after);
  }
  expect(new Map([...events].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toEqual(seen);
}

describe.each([
  { what: "an accept while a run works", outer: run, inner: accept },
  { what: "a rollback while a run works", outer: run, inner: rollback },
  { what: "a run while an accept works", outer: accept, inner: run },
  { what: "a run while a rollback works", outer: rollback, inner: run },
  { what: "an accept while the same accept works", outer: accept, inner: accept },
  { what: "a rollback while an accept works", outer: accept, inner: rollback },
])("$what", ({ outer, inner }) => {
  test("gives a log that a serial order gives, at every moment", async () => {
    const effects = await effectsOf(outer);

    for (let at = 1; at <= effects; at += 1) await check(await interleave(outer, inner, at));

    expect(effects).toBeGreaterThanOrEqual(4);
  });

  test("gives such a log also when both run freely", async () => {
    const one = await dueWorld();

    const results = await Promise.all([outer(one), inner(one)]);

    await check({ ...one, results });
  });
});
