import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { publish, readLog } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { aPublication } from "../../storage/publications.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, type HeldWorld, heldWorld, type SmallWorld } from "../small-world.ts";

const keys = layout(ACCOUNT);
const STOPPED = new SyncError("INTERRUPTED", "The job was stopped.");

/** Something happens when the changes are written, before the publication is. */
function onceWritten(world: SmallWorld, act: () => Promise<unknown>): Store {
  return {
    ...interposed(world.store),
    create: async (key, body) => {
      const version = await world.store.create(key, body);
      if (key.startsWith("changes/")) await act();
      return version;
    },
  };
}

/** The part has the same rows and another size. */
async function compressAgain({ store }: SmallWorld, snapshotId: string): Promise<void> {
  const key = keys.part(snapshotId, 0);
  const { bytes } = (await store.read(key)) ?? {};
  store.put(key, gzipSync(gunzipSync(bytes ?? ""), { level: 0 }));
}

async function retire({ store }: SmallWorld, snapshotId: string): Promise<void> {
  store.put(keys.retired(snapshotId), '{"retired_at":"2026-01-01T00:00:00.000Z"}');
}

describe("a snapshot that has changed while its changes were found", () => {
  test.each([
    ["a run", "is retired", "SNAPSHOT_NOT_FOUND", retire],
    ["a run", "has a part of another size", "STORE_CORRUPT", compressAgain],
    ["accept", "is retired", "SNAPSHOT_NOT_FOUND", retire],
  ])("%s publishes nothing where it %s, and ends as %s", async (what, _, code, change) => {
    const { world, held } = await heldWorld();
    world.show(10, 4);
    const id = what === "accept" ? held : "2026-01-02T00-00-00.000Z";
    const store = onceWritten(world, () => change(world, id));

    const { row } =
      what === "accept"
        ? await world.acceptOrRollback({ action: "accept", snapshotId: held, force: false }, { store })
        : await world.run({ runId: id }, { store });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: code });
    expect(world.store.keys("publications/")).toHaveLength(2);
  });

  test("a part that a person has compressed again is accepted", async () => {
    const { world, held } = await heldWorld();
    await compressAgain(world, held);

    expect((await world.accept(held)).row).toMatchObject({ outcome: "PUBLISHED", events: 5 });
  });
});

test("a commit whose changes another decision has written in another way, and published, follows it", async () => {
  const { world, first, second, held } = await heldWorld();
  let creations = 0;
  const store: Store = {
    ...interposed(world.store),
    create: async (key, body) => {
      if (key.startsWith("changes/")) creations += 1;
      if (creations === 1) world.store.put(key, "other changes");
      if (creations === 2) {
        const [publication, snapshot_id, base_snapshot_id] = ["0000000003", first, second];
        await publish(
          world.own,
          aPublication({ publication, snapshot_id, base_snapshot_id, action: "rollback" }),
        );
      }
      return world.store.create(key, body);
    },
  };

  const { row } = await world.acceptOrRollback(
    { action: "accept", snapshotId: held, force: true },
    { store },
  );

  expect(row.outcome).toBe("PUBLISHED");
  expect((await readLog(world.own)).map(({ snapshot_id }) => snapshot_id)).toEqual([
    first,
    second,
    first,
    held,
  ]);
});

describe("a commit that is stopped", () => {
  test.each<[string, (of: HeldWorld, stop: AbortController) => Store]>([
    ["while they are written", ({ world }, stop) => onceWritten(world, async () => stop.abort(STOPPED))],
    [
      "when the files are listed for the last time",
      ({ world, held }, stop) => {
        let areWritten = false;
        const written = onceWritten(world, async () => {
          areWritten = true;
        });
        const list: Store["list"] = (prefix, after) => {
          if (areWritten && prefix === keys.snapshot(held)) stop.abort(STOPPED);
          return written.list(prefix, after);
        };
        return { ...written, list };
      },
    ],
  ])("%s publishes nothing", async (_, storeOf) => {
    const of = await heldWorld();
    const stop = new AbortController();

    const { row } = await of.world.acceptOrRollback(
      { action: "accept", snapshotId: of.held, force: false },
      { store: storeOf(of, stop), signal: stop.signal },
    );

    expect(row).toMatchObject({ error_code: "INTERRUPTED" });
    expect(of.world.store.keys("publications/")).toHaveLength(2);
  });

  test("before the changes are found writes nothing", async () => {
    const { world, held } = await heldWorld();
    const before = world.store.keys("changes/");

    const { row } = await world.acceptOrRollback(
      { action: "accept", snapshotId: held, force: false },
      { signal: AbortSignal.abort(STOPPED) },
    );

    expect(row).toMatchObject({ error_code: "INTERRUPTED" });
    expect(world.store.keys("changes/")).toEqual(before);
  });
});
