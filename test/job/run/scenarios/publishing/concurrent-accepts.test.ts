// `accept`, `rollback` and runs at the same time: whatever the moment, the log is one that some serial order gives.

import { describe, expect, test } from "vitest";
import type { RunResult } from "../../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../../lambdas/job/storage/publication.ts";
import { readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { CrashPoint } from "../../crash.ts";
import { interposed, interposedOnce } from "../../interposed-store.ts";
import { ACCOUNT, type DueWorld, dueWorld, SmallWorld } from "../../small-world.ts";

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

/** What depends on the head is decided when a run commits: what readers saw at its start may be long gone. */
interface Due {
  readonly world: SmallWorld;
  readonly large: string;
  readonly small: string;
}

/** Readers see 4 events, a snapshot of 10 waits for a rollback or an accept, and the service lists 4. */
async function due(): Promise<Due> {
  const world = new SmallWorld();
  const large = await world.publish(10, 1);
  const small = await world.hold(4, 2);
  await world.accept(small);
  world.show(4, 3);
  return { world, large, small };
}

const MOMENTS = [
  { when: "while it merges", at: "_manifest.json" },
  { when: "just before its commit", at: "publications/" },
];

/** A run; before it creates the first file of this name, a person does something. */
async function runWith({ world }: Due, at: string, act: () => Promise<RunResult>): Promise<RunResult> {
  const meanwhile: unknown[] = [];
  const store = interposedOnce(world.store, at, async () => meanwhile.push((await act()).row.outcome));
  const result = await world.run({}, { store });
  expect(meanwhile).toEqual(["PUBLISHED"]);
  return result;
}

describe.each(MOMENTS)("a run under way, $when", ({ at }) => {
  test("is held as DROPPED where a person accepts a much larger snapshot", async () => {
    const one = await due();

    const { row, explanation } = await runWith(one, at, () => one.world.accept(one.large, true));

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED", added: null, removed: null });
    expect(explanation).toContain("60.0 % fewer than the 10 that readers see now");
    expect(one.world.store.text(layout(ACCOUNT).held(row.run_id))).toContain("DROPPED");
    expect((await readLog(one.world.own)).at(-1)?.snapshot_id).toBe(one.large);
  });

  test("is held as PINNED where a person pins", async () => {
    const one = await due();

    const { row } = await runWith(one, at, () => one.world.rollback(one.small));

    expect(row).toMatchObject({ outcome: "HELD", reason: "PINNED" });
  });
});

test("a run does not publish over a head of the future that came while it worked", async () => {
  const { world, small } = await due();
  const later = "2027-01-01T00-00-00.000Z";
  const log = layout(ACCOUNT);
  const store = interposedOnce(world.store, "_manifest.json", async () => {
    const publication = JSON.parse(world.store.text(log.publication("0000000002")) ?? "");
    const future = { ...publication, publication: "0000000003", snapshot_id: later, run_id: later };
    world.store.put(
      log.publication("0000000003"),
      `${JSON.stringify({ ...future, base_snapshot_id: small })}\n`,
    );
  });

  const { row } = await world.run({}, { store });

  expect(row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD" });
});

test("a run that its start would have held is published where a rollback to a smaller one comes first", async () => {
  const one = await due();
  await one.world.accept(one.large, true);

  const { row } = await runWith(one, "_manifest.json", () => one.world.rollback(one.small, false));

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: 4, changed: 4, removed: 0 });
  expect((await readLog(one.world.own)).at(-1)?.base_snapshot_id).toBe(one.small);
});

test("a time limit counts the rows of the head that the changes are computed against", async () => {
  const one = await due();
  const { world } = one;
  let leftMs = Number.POSITIVE_INFINITY;
  const ports = world.ports({ timeLeftMs: () => leftMs });
  const store = interposedOnce(world.store, "/_manifest.json", async () => {
    leftMs = 30_000 + 8.5 * 0.05; // enough for 4 rows of its own and 4 of the head, not for 5
    world.show(5, 4);
    await world.store.delete([layout(ACCOUNT).lease]);
    expect((await world.run({ fresh: true })).row.outcome).toBe("PUBLISHED");
  });

  const { row } = await world.run({ runId: "2026-01-01T09-00-00.000Z" }, { ...ports, store });

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
});

test("a commit that is refused while the log does not move fails, and the next run finishes it", async () => {
  const world = new SmallWorld();
  await world.publish(5, 1);
  world.show(5, 2);
  let commits = 0;
  const counting = interposed(world.store, async (key) => {
    if (key.startsWith("publications/")) commits += 1;
    if (commits > 100) throw new Error("endless");
  });
  const blind: Store = {
    read: counting.read,
    open: counting.open,
    create: counting.create,
    copy: counting.copy,
    replace: counting.replace,
    delete: counting.delete,
    list: (prefix, after) =>
      prefix.startsWith("publications/") ? (async function* () {})() : counting.list(prefix, after),
  };

  const failed = await world.run({}, { store: blind });
  const next = await world.run();

  expect(failed.row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
  expect(failed.error?.message).toContain("publications/uk/0000000001.ndjson exists, but listing");
  expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: failed.row.run_id, changed: 5 });
});
