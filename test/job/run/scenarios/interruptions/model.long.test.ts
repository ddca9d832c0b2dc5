// Random histories of runs, holds, accepts, rollbacks, pins, retention and crashes keep the promises of the publication protocol.

import fc from "fast-check";
import { expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { type Publication, readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import { Crashed, CrashPoint } from "../../crash.ts";
import { ACCOUNT, DAY_MS, HOUR_MS, SmallWorld } from "../../small-world.ts";

type Step =
  | {
      readonly kind: "run";
      readonly events: number;
      readonly crashAt: number | undefined;
      readonly after: boolean;
    }
  | {
      readonly kind: "accept";
      readonly pick: number;
      readonly force: boolean;
      readonly crashAt: number | undefined;
    }
  | {
      readonly kind: "rollback";
      readonly pick: number;
      readonly pin: boolean;
      readonly crashAt: number | undefined;
    }
  | { readonly kind: "wait"; readonly hours: number };

const crashAt = fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined, freq: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("run" as const),
      events: fc.integer({ min: 0, max: 12 }),
      crashAt,
      after: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("accept" as const),
      pick: fc.nat(),
      force: fc.boolean(),
      crashAt,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("rollback" as const),
      pick: fc.nat(),
      pin: fc.boolean(),
      crashAt,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      hours: fc.constantFrom(1, 12, 25, 49, 24 * 31),
    }),
  },
);

/** A world that steps are applied to, and what was seen in it. */
class History {
  readonly world = new SmallWorld({ retainDays: 2 });
  /** What a snapshot showed when it first became the head: it must never show anything else. */
  readonly firstSeen = new Map<string, ReadonlyMap<string, string>>();
  #version = 0;

  async apply(one: Step): Promise<void> {
    switch (one.kind) {
      case "wait":
        this.world.clock.advance(one.hours * HOUR_MS);
        return;
      case "run":
        this.#version += 1;
        this.world.show(one.events, this.#version);
        return this.#mayCrash(one.crashAt, one.after, (ports) => this.world.run({}, ports));
      case "accept": {
        const request = { action: "accept", snapshotId: this.#pick(one.pick), force: one.force } as const;
        return this.#mayCrash(one.crashAt, true, (ports) => this.world.acceptOrRollback(request, ports));
      }
      case "rollback": {
        const request = { action: "rollback", snapshotId: this.#pick(one.pick), pin: one.pin } as const;
        return this.#mayCrash(one.crashAt, true, (ports) => this.world.acceptOrRollback(request, ports));
      }
    }
  }

  async #mayCrash(
    at: number | undefined,
    after: boolean,
    work: (ports: ReturnType<SmallWorld["ports"]>) => Promise<unknown>,
  ): Promise<void> {
    const ports = this.world.ports();
    const point = new CrashPoint(at ?? Number.POSITIVE_INFINITY, after ? "after" : "before");
    await work({ ...ports, ...point.wrap(ports) }).catch((error: unknown) => {
      if (!(error instanceof Crashed)) throw error;
    });
    if (point.crashed) this.world.dead.add(ports.process.pid ?? 0);
  }

  /** Any snapshot that has or had files: published, held, retired, deleted or of a crashed run. */
  #pick(n: number): string {
    const known = new Set(
      this.world.store.keys("publications/").concat(this.world.store.keys("snapshots/")).map(idIn),
    );
    const ids = [...known].filter((id) => id !== "");
    return ids[n % Math.max(1, ids.length)] ?? "2020-01-01T00-00-00.000Z";
  }
}

const idIn = (key: string): string => /\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z/.exec(key)?.[0] ?? "";

async function invariants(history: History): Promise<void> {
  const { world } = history;
  const log = await readLog(world.store, ACCOUNT); // throws for a gap
  await world.catalog.refresh(ACCOUNT);
  const head = log.at(-1);
  const seen = await world.seen();

  expect(seen.size).toBe(head?.events ?? 0);
  if (head) {
    const first = history.firstSeen.get(head.snapshot_id) ?? seen;
    history.firstSeen.set(head.snapshot_id, first);
    expect(seen).toEqual(first);
  }
  expect(await folded(world)).toEqual(seen);
  for (const id of headsOfTheLastDay(log, world.clock.now())) {
    expect(world.store.keys(layout.snapshot(ACCOUNT, id)).some((key) => key.endsWith("_manifest.json"))).toBe(
      true,
    );
  }
  const bases = log.map(({ base_snapshot_id }) => base_snapshot_id);
  expect(bases).toEqual([null, ...log.map(({ snapshot_id }) => snapshot_id)].slice(0, log.length));
  const runs = log.filter(({ action }) => action === "run").map(({ run_id }) => run_id);
  expect(new Set(runs).size).toBe(runs.length);
  for (const [index, publication] of log.entries()) {
    const before = log[index - 1];
    if (publication.action !== "run" || before === undefined) continue;
    expect(before.pinned).toBe(false);
    expect(publication.snapshot_id > before.snapshot_id).toBe(true);
  }
}

async function folded(world: SmallWorld): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  for (const line of await world.catalog.changes(ACCOUNT)) {
    const { uuid, before, after } = JSON.parse(line);
    expect(events.get(uuid) ?? null).toBe(before);
    if (after === null) events.delete(uuid);
    else events.set(uuid, after);
  }
  return new Map([...events].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function headsOfTheLastDay(log: readonly Publication[], nowMs: number): readonly string[] {
  return log
    .filter((_, index) => {
      const next = log[index + 1];
      return next === undefined || Date.parse(next.published_at) > nowMs - DAY_MS;
    })
    .map(({ snapshot_id }) => snapshot_id);
}

test("a random history keeps every promise of the publication log", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const history = new History();

      for (const one of steps) {
        await history.apply(one);
        await invariants(history);
      }
    }),
    { numRuns: 300, seed: 20_261_121 },
  );
});
