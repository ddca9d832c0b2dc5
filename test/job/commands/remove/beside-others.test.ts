// `remove` while another process publishes, and the other way round, at every step of either: what is published is whole,
// what was removed is gone, and the account goes on.

import { describe, expect, test } from "vitest";
import { countFiles, removeAccount } from "../../../../lambdas/job/commands/decisions.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import { verifySnapshot } from "../../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { readEnd, readLog } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { CrashPoint } from "../../run/crash.ts";
import { interposed } from "../../run/interposed-store.ts";
import {
  ACCOUNT,
  type DueWorld,
  dueWorld,
  type PortChanges,
  type SmallWorld,
} from "../../run/small-world.ts";

type Work = (due: DueWorld, ports: PortChanges) => Promise<RunResult | undefined>;

const run: Work = ({ world }, ports) => world.run({}, ports);
const accept: Work = ({ world, held }, ports) =>
  world.acceptOrRollback({ action: "accept", snapshotId: held, force: true }, ports);
const rollback: Work = ({ world, first }, ports) =>
  world.acceptOrRollback({ action: "rollback", snapshotId: first, pin: false }, ports);
const remove: Work = async ({ world }, ports) => {
  world.clock.advance(1);
  await removeAccount(world.ports(ports));
  return undefined;
};

/** `hook` is called before each write and each deletion. */
function stopping(store: Store, hook: () => Promise<void>): Store {
  const after = async <T>(work: () => Promise<T>): Promise<T> => {
    await hook();
    return work();
  };
  return {
    ...interposed(store),
    create: (key, body) => after(() => store.create(key, body)),
    copy: (from, to) => after(() => store.copy(from, to)),
    replace: (key, bytes, version) => after(() => store.replace(key, bytes, version)),
    delete: async (keys) => {
      for (const key of keys) await after(() => store.delete([key]));
    },
  };
}

/** `outer` is stopped before its n-th write; `inner` does all of its own work; `outer` goes on. */
async function interleave(outer: Work, inner: Work, at: number) {
  const one = await dueWorld();
  const { world } = one;
  const before = new Set<string>();
  const process = { host: "small", pid: 1000 };
  let writes = 0;
  const store = stopping(world.store, async () => {
    writes += 1;
    if (writes !== at) return;
    for (const { run_id } of await readLog(world.own)) before.add(run_id);
    // Its lease has expired while it is stopped.
    world.clock.advance(60_000);
    world.dead.add(process.pid);
    await inner(one, {});
  });
  const result = await outer(one, { store, process });
  return { ...one, result, before, isDone: writes < at };
}

async function expectWhole(world: SmallWorld, where: string): Promise<void> {
  const { head } = await readEnd(world.own);
  expect(world.catalog.head(ACCOUNT), where).toEqual(head);
  if (head) await verifySnapshot(world.own, head.snapshot_id);
  expect((await world.seen()).size, where).toBe(head?.events ?? 0);
}

/** What has anything of an event or of the list. */
const leftBehind = (world: SmallWorld): readonly string[] =>
  world.store.keys().filter((key) => /^(snapshots|changes)\/|^runs\/.*(plan|rows|record)-?/.test(key));

/** Of the run log. */
function rowsOf(world: SmallWorld, runId = ""): readonly unknown[] {
  const keys = world.store.keys().filter((key) => key.startsWith(`run-log/${ACCOUNT}/${runId}-`));
  return keys.map((key) => JSON.parse(world.store.text(key) ?? ""));
}

describe.each([
  { what: "a run is stopped", outer: run },
  { what: "an accept is stopped", outer: accept },
  { what: "a rollback is stopped", outer: rollback },
])("remove while $what, at every write", ({ outer }) => {
  test("leaves nothing that counts, and the account goes on", async () => {
    for (let at = 1; ; at += 1) {
      const { world, result, before, isDone } = await interleave(outer, remove, at);
      if (isDone) break;
      const where = `before write ${at}`;

      await expectWhole(world, where);
      const log = await readLog(world.own);
      const isSeen = [...before, ...log.map(({ run_id }) => run_id)].includes(result?.row.run_id ?? "");
      expect(result?.row.outcome === "PUBLISHED", where).toBe(isSeen);
      // The write that was under way; a run writes nothing more, and an accept takes it back.
      expect(leftBehind(world).length, where).toBeLessThanOrEqual(outer === run ? 1 : 0);
      for (const row of rowsOf(world, result?.row.run_id)) expect(row, where).toEqual(result?.row);
      expect((await world.run({ fresh: true })).row.outcome, where).toBe("PUBLISHED");
      await remove({ world, first: "", held: "" }, {});
      expect(await countFiles(world.own), where).toMatchObject({ files: 0 });
    }
  });
});

describe.each([
  { what: "a run", inner: run },
  { what: "an accept", inner: accept },
  { what: "a rollback", inner: rollback },
])("$what while remove is stopped, at every write", ({ inner }) => {
  test("publishes what is whole or nothing, and the account goes on [D27]", async () => {
    for (let at = 1; ; at += 1) {
      const { world, isDone } = await interleave(remove, inner, at);
      if (isDone) break;
      const where = `before write ${at}`;

      await expectWhole(world, where);
      expect((await world.run({ fresh: true })).row.outcome, where).toBe("PUBLISHED");
      await expectWhole(world, where);
    }
  });
});

test.each([
  { what: "a run", outer: run },
  { what: "an accept", outer: accept },
  { what: "a rollback", outer: rollback },
])(
  "$what that goes on after a removal publishes nothing, also where no file is deleted yet",
  async ({ outer }) => {
    const stoppedRemove: Work = async ({ world }) => {
      const ports = world.ports();
      const point = new CrashPoint("create publications/", "after");
      const dying = world.ports({ ...point.wrap(ports), process: ports.process });
      await expect(removeAccount(dying)).rejects.toThrow("the process");
      world.dead.add(dying.process.pid ?? 0);
      return undefined;
    };
    for (let at = 1; ; at += 1) {
      const { world, isDone } = await interleave(outer, stoppedRemove, at);
      if (isDone) break;

      expect(await readLog(world.own), `before write ${at}`).toEqual([]);
    }
  },
);

test("a commit that was stopped creates a number below the removal, which no reader sees, and does not say PUBLISHED [D27]", async () => {
  const one = await dueWorld();
  const { world } = one;
  const second = layout(ACCOUNT).publication("0000000002");
  const store = stopping(world.store, async () => undefined);
  let isStopped = false;
  const created: Store = {
    ...store,
    create: async (key, body) => {
      if (key === second && !isStopped) {
        isStopped = true;
        await rollback(one, {});
        await remove(one, {});
      }
      return store.create(key, body);
    },
  };

  const result = await accept(one, { store: created });

  expect(result?.error).toMatchObject({
    code: "SNAPSHOT_NOT_FOUND",
    message: expect.stringContaining("was removed while"),
  });
  expect(world.store.keys()).toContain(second);
  expect(await readEnd(world.own)).toMatchObject({
    last: "0000000003",
    head: undefined,
  });
  expect(await readLog(world.own)).toEqual([]);
  expect((await world.run()).row).toMatchObject({ outcome: "PUBLISHED", reason: null });
  await remove(one, {});
  expect(world.store.keys()).not.toContain(second);
});
