// The snapshot is built behind the collection. That is seen only in when its files begin, never in what they are.

import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { BuildAhead } from "../../../../lambdas/job/run/build/build-ahead.ts";
import { SnapshotBuilder } from "../../../../lambdas/job/run/build/snapshot-builder.ts";
import { newWork } from "../../../../lambdas/job/run/collect/unfinished-run.ts";
import type { CountingService, RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import type { DeflatedBlock } from "../../../../lambdas/job/snapshot/files/gzip/line-blocks.ts";
import { type Manifest, readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { verifySnapshot } from "../../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { createPlan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { writeShard } from "../../../../lambdas/job/snapshot/staging/shard.ts";
import type { StagedResult } from "../../../../lambdas/job/snapshot/staging/staged-result.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { streamOf } from "../../snapshot/files/streams.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const RUN = "2026-06-01T06-00-00.000Z";
const stopped = new SyncError("INTERRUPTED", "Ctrl-C");
const full = new SyncError("STORE_FAILED", "the disk is full");
const part = layout.part(ACCOUNT, RUN, 0);
const shard = (index: number): string => layout.shard(ACCOUNT, RUN, index);

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld({ shardSize: 4 });
  world.show(20);
});

/** The files that the run begins, in order; `fail` says which of them fail. */
function watched(fail: (key: string, time: number) => boolean = () => false): {
  readonly store: Store;
  readonly begun: string[];
  readonly open: Set<string>;
} {
  const begun: string[] = [];
  const open = new Set<string>();
  const store: Store = {
    ...interposed(world.store, async () => undefined),
    create: async (key, body) => {
      begun.push(key);
      open.add(key);
      try {
        if (fail(key, begun.filter((each) => each === key).length)) throw full;
        return await world.store.create(key, body);
      } finally {
        open.delete(key);
      }
    },
  };
  return { store, begun, open };
}

/** A service that takes time: one turn of the event loop for each event. */
function slowly(onDetail: (details: number) => void = () => undefined): RunPorts["openService"] {
  return async (rateLimiter) => {
    const service = await world.ports().openService(rateLimiter);
    const detail: CountingService["detail"] = async (requestAs, signal) => {
      await new Promise((resolve) => setImmediate(resolve));
      onDetail(world.details);
      return service.detail(requestAs, signal);
    };
    return { ...service, detail };
  };
}

describe("a snapshot", () => {
  it("is begun while its events are collected, and appears only after the last one", async () => {
    const { store, begun } = watched();
    const there: boolean[] = [];
    const openService = slowly(() => there.push(world.store.keys(layout.snapshots(ACCOUNT)).length > 0));

    const { row } = await world.run({ runId: RUN }, { store, openService });

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
    expect(begun.indexOf(part)).toBeGreaterThan(begun.indexOf(shard(0)));
    expect(begun.indexOf(part)).toBeLessThan(begun.indexOf(shard(4)));
    expect(there).toEqual(Array.from({ length: 20 }, () => false));
    expect(await world.seen()).toEqual(world.truth());
  });

  it("is begun after the collection where the process has a time limit", async () => {
    const { store, begun } = watched();

    await world.run({ runId: RUN }, { store, openService: slowly(), timeLeftMs: () => 1_000_000 });

    expect(begun.indexOf(part)).toBeGreaterThan(begun.indexOf(shard(4)));
  });

  it("has the same bytes, however it was made", async () => {
    const interrupted = new AbortController();
    const ways: readonly (readonly Partial<RunPorts>[])[] = [
      [{ openService: slowly() }],
      [{ timeLeftMs: () => 1_000_000 }],
      [
        { openService: slowly((n) => n === 10 && interrupted.abort(stopped)), signal: interrupted.signal },
        {},
      ],
    ];
    const made: unknown[] = [];
    for (const starts of ways) {
      world = new SmallWorld({ shardSize: 4, require: ["/n"], maxMissingPercent: 100 });
      world.show(20);
      world.gone.add(3).add(4);
      for (const start of starts) await world.run({ runId: RUN }, start);
      made.push(await filesOf(world));
    }

    expect(made[0]).toMatchObject({ parts: 1, digests: { length: 18 * 32 }, leftOut: { length: 2 } });
    expect(made[1]).toEqual(made[0]);
    expect(made[2]).toEqual(made[0]);
  });

  it("is made of the rows as they are staged: neither a shard nor a part is read", async () => {
    const read: string[] = [];
    const store: Store = {
      ...interposed(world.store, async () => undefined),
      open: (key) => {
        read.push(key);
        return world.store.open(key);
      },
    };

    await world.run({ runId: RUN }, { store, openService: slowly() });

    expect(read.filter((key) => /shard-|part-/.test(key))).toEqual([]);
    expect(await world.seen()).toEqual(world.truth());
  });

  it("is what the shards hold, where another process has staged one of them", async () => {
    const other = new SmallWorld({ shardSize: 4 });
    other.show(20, 2);
    await other.run({ runId: RUN });
    const staged = (await other.store.read(shard(2)))?.bytes ?? "";
    const store = interposed(world.store, async (key) => {
      if (key === shard(2)) world.store.put(key, staged);
    });

    const { row } = await world.run({ runId: RUN }, { store, openService: slowly() });

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
    const seen = [...(await world.seen())];
    const [first, second] = [[...world.truth()], [...other.truth()]];
    expect(seen).toEqual([...first.slice(0, 8), ...second.slice(8, 12), ...first.slice(12)]);
  });

  it("is begun again at the end if the store failed meanwhile", async () => {
    const { store, begun } = watched((key, time) => key === part && time === 1);

    const { row } = await world.run({ runId: RUN }, { store, openService: slowly() });

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
    expect(begun.filter((key) => key === part)).toHaveLength(2);
    expect(begun.lastIndexOf(part)).toBeGreaterThan(begun.indexOf(shard(4)));
    expect(await world.seen()).toEqual(world.truth());
  });

  it("ends its run where the store still fails, once all events are staged", async () => {
    const { store, open } = watched((key) => key === part);

    const { error } = await world.run({ runId: RUN }, { store, openService: slowly() });
    const next = await world.run({ runId: RUN });

    expect(error).toBe(full);
    expect(open).toEqual(new Set());
    expect(world.details).toBe(20);
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
  });

  it("leaves nothing where the collection is interrupted", async () => {
    const { store, begun, open } = watched();
    const stop = new AbortController();
    const interrupted = new SyncError("INTERRUPTED", "Ctrl-C");
    const openService = slowly((details) => {
      if (details === 16) stop.abort(interrupted);
    });

    const { error } = await world.run({ runId: RUN }, { store, openService, signal: stop.signal });

    expect(error).toBe(interrupted);
    expect(begun).toContain(part);
    expect(open).toEqual(new Set());
    expect(world.store.keys(layout.snapshots(ACCOUNT))).toEqual([]);
    expect((await world.run({ runId: RUN })).row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
    expect(await world.seen()).toEqual(world.truth());
  });

  it("names a damaged shard of an earlier start, and the other events are staged before", async () => {
    const stop = new AbortController();
    const interrupted = new SyncError("INTERRUPTED", "Ctrl-C");
    const openService = slowly((details) => {
      if (details === 10) stop.abort(interrupted);
    });
    await world.run({ runId: RUN }, { openService, signal: stop.signal });
    world.store.put(shard(0), "no gzip");

    const { error } = await world.run({ runId: RUN }, { openService: slowly() });

    expect(error).toMatchObject({ code: "STORE_CORRUPT", fields: { key: shard(0) } });
    expect(world.store.keys(layout.run(ACCOUNT, RUN))).toContain(shard(4));
    expect(world.store.keys(layout.snapshots(ACCOUNT))).toEqual([]);
  });
});

describe("a store that is slower than the service", () => {
  it("does not fill the memory: the snapshot is begun again at the end", async () => {
    const { taken, begun, errors, manifest } = await built({ maxWaitingBytes: 500 });

    expect(taken).toEqual([0, 1, 2, 3]);
    expect(begun).toBe(2);
    expect(errors).toMatchObject([{ message: expect.stringContaining("too slow") }]);
    expect(manifest.counts.events).toBe(5);
    expect(await verifySnapshot(world.store, ACCOUNT, RUN)).toEqual(manifest);
  });

  it("gets no row after a shard that another process has staged", async () => {
    const { taken, begun, errors, manifest } = await built({ ofOther: 3 });

    expect(taken).toEqual([0, 1, 2, 3]);
    expect(begun).toBe(2);
    expect(errors).toMatchObject([{ message: expect.stringContaining("another process") }]);
    expect(await verifySnapshot(world.store, ACCOUNT, RUN)).toEqual(manifest);
  });

  /** Five shards of one row each. The store takes the first chunk of a part, and goes on when all shards are staged. */
  async function built({ maxWaitingBytes = 100_000, ofOther = -1 }): Promise<{
    /** The shards whose rows were taken from memory. */
    readonly taken: readonly number[];
    /** How often the part was begun. */
    readonly begun: number;
    readonly errors: readonly unknown[];
    readonly manifest: Manifest;
  }> {
    const events = ["a1", "b2", "c3", "d4", "e5"].map((uuid) => ({ uuid, requestAs: uuid, listing: "{}" }));
    const draft = { run_id: RUN, account: ACCOUNT, fingerprint: "f", created_at: "2026-06-01T06:00:00.000Z" };
    const plan = await createPlan(world.store, layout.plan(ACCOUNT, RUN), {
      ...draft,
      rejected: 0,
      repeated: 0,
      shard_size: 1,
      events,
    });
    const collected = Promise.withResolvers<void>();
    const errors: unknown[] = [];
    let begun = 0;
    const slow: Store["create"] = async (_key, body) => {
      try {
        if (body instanceof Uint8Array) return undefined;
        for await (const _ of body) await collected.promise;
      } catch (error) {
        errors.push(error);
        throw error;
      }
      return undefined;
    };
    const store: Store = {
      ...interposed(world.store, async () => undefined),
      create: (key, body) => {
        if (key === part) begun += 1;
        return key === part && begun === 1 ? slow(key, body) : world.store.create(key, body);
      },
    };
    const task = { ports: world.ports({ store }), settings: world.settings, plan, base: null, isAhead: true };
    const work = newWork(plan);
    const build = await BuildAhead.open(task, work, maxWaitingBytes);

    const taken: number[] = [];
    for (const [index, { uuid }] of events.entries()) {
      // About 340 bytes, compressed.
      const listing = `"${randomBytes(300).toString("hex")}"`;
      const row = { uuid, event_date: null, scope: null, event: "{}", listing };
      build.rowFetched(index, row, {});
      const results = (): AsyncIterable<StagedResult> => streamOf({ uuid, line: rowLine(row) });
      if (index === ofOther) await writeShard(world.store, shard(index), index, results());
      const onBlock = async (block: DeflatedBlock): Promise<void> => {
        let isTaken = false;
        await build.blockStaged({
          ...block,
          get text() {
            isTaken = true;
            return block.text;
          },
        });
        if (isTaken) taken.push(index);
      };
      const leftOut = await writeShard(store, shard(index), index, results(), undefined, onBlock);
      build.shardStaged(index, leftOut);
    }
    collected.resolve();
    const { manifest } = await build.finish();
    return { taken, begun, errors, manifest };
  }
});

test("a snapshot is not made where rows and events that are left out are not as many as planned", async () => {
  const events = ["a1", "b2"].map((uuid) => ({ uuid, requestAs: uuid, listing: "{}" }));
  const draft = { run_id: RUN, account: ACCOUNT, fingerprint: "f", created_at: "2026-06-01T06:00:00.000Z" };
  const counts = { rejected: 0, repeated: 0, shard_size: 2 };
  const plan = await createPlan(world.store, layout.plan(ACCOUNT, RUN), { ...draft, ...counts, events });
  const { settings } = world;
  const builder = new SnapshotBuilder({ ports: world.ports(), settings, plan, base: null, isAhead: true });
  await builder.readBase();
  await builder.endShard([{ uuid: "a1", reason: "gone" }]);

  await expect(builder.finish()).rejects.toMatchObject({
    code: "SNAPSHOT_INCOMPLETE",
    message: expect.stringContaining("Of 2 planned events 0 have a row and 1 were left out"),
    isRetryable: false,
  });
  expect(world.store.keys(layout.manifest(ACCOUNT, RUN))).toEqual([]);
});

/** The files of the snapshot; of the manifest what does not depend on the clock. */
async function filesOf({ store }: SmallWorld): Promise<unknown> {
  const { finished_at: _, ...manifest } = await readManifest(store, ACCOUNT, RUN);
  const changes = layout.changesPart(ACCOUNT, "0000000001", RUN, 0);
  const [bytes, digests, leftOut, added] = await Promise.all(
    [part, layout.digests(ACCOUNT, RUN), layout.leftOut(ACCOUNT, RUN), changes].map(
      async (key) => (await store.read(key))?.bytes,
    ),
  );
  const left = Buffer.from(leftOut ?? "")
    .toString()
    .trimEnd()
    .split("\n");
  return {
    parts: manifest.parts.length,
    manifest,
    bytes,
    digests,
    leftOut: left,
    changes: gunzipSync(added ?? ""),
  };
}
