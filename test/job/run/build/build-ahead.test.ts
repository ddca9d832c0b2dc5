// The snapshot is built behind the collection. That is seen only in when its files begin, never in what they are.

import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { CountingService, RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const RUN = "2026-06-01T06-00-00.000Z";
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
    await world.run({ runId: RUN }, { openService: slowly() });
    const behind = await filesOf(world);
    world = new SmallWorld({ shardSize: 4 });
    world.show(20);
    await world.run({ runId: RUN }, { timeLeftMs: () => 1_000_000 });

    expect(behind).toHaveLength(2);
    expect(behind).toEqual(await filesOf(world));
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

async function filesOf({ store }: SmallWorld): Promise<readonly Uint8Array[]> {
  const keys = [part, layout.digests(ACCOUNT, RUN)];
  return Promise.all(keys.map(async (key) => (await store.read(key))?.bytes ?? new Uint8Array()));
}
