// What fails right after the commit takes nothing back: the end says so, and the next start records it.

import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { publicationOf, readRunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { readLog } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { settled } from "../../../simulator/manual-clock.ts";
import { interposed, refusing } from "../interposed-store.ts";
import { livingLease } from "../lease/lease-world.ts";
import { serviceWith } from "../run-defaults.ts";
import { ACCOUNT, DAY_MS, heldWorld, type PortChanges, SmallWorld } from "../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const FULL = "Could not write it: the disk or the quota is full. Free some space and start again. (ENOSPC)";
const SCHEDULED = "2026-01-05T06-00-00.000Z";

/** Ports whose disk is full as soon as a publication exists, for everything or for keys of this kind. */
function fullAfterCommit(world: SmallWorld, kind = ""): PortChanges {
  let isFull = false;
  const store = interposed(world.store, async (key) => {
    if (isFull && key.startsWith(kind)) throw new SyncError("STORE_FAILED", FULL);
    if (key.startsWith("publications/")) isFull = true;
  });
  return { store };
}

/** The world's catalog cannot be refreshed once something more is published. */
function catalogFails(world: SmallWorld, code: "CATALOG_FAILED" | "STORE_CORRUPT"): PortChanges {
  const before = world.store.keys("publications/").length;
  const catalog: RunPorts["catalog"] = {
    refresh: async (account) => {
      if (world.store.keys("publications/").length > before) throw new SyncError(code, "It failed.");
      await world.catalog.refresh(account);
    },
  };
  return { catalog };
}

const rows = (world: SmallWorld) =>
  world.store
    .keys("run-log/")
    .map((key) => JSON.parse(world.store.text(key) ?? ""))
    .map(({ run_id, attempt, trigger, outcome, added }) => ({ run_id, attempt, trigger, outcome, added }));

/** Another process takes the lease once something more is published, and this one finds out before it goes on. */
function leaseIsTaken(world: SmallWorld, after: RunPorts["catalog"]["refresh"]): PortChanges {
  const catalog: RunPorts["catalog"] = {
    refresh: async (account) => {
      if (world.store.keys("publications/").length === 0) return world.catalog.refresh(account);
      world.store.put(layout(ACCOUNT).lease, livingLease(world.clock.now()));
      world.clock.advance(20_000);
      await settled();
      await after(account);
    },
  };
  return { catalog };
}

describe("a run that loses the lease right after the commit", () => {
  test("is recorded as published, by itself", async () => {
    world.show(10);

    const { row } = await world.run(
      {},
      leaseIsTaken(world, (account) => world.catalog.refresh(account)),
    );

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 10 });
    expect((await readRunResult(world.own, row.run_id))?.row.outcome).toBe("PUBLISHED");
  });

  test("fails as published, where something else fails then", async () => {
    world.show(10);
    const failing = leaseIsTaken(world, async () => {
      throw new SyncError("CATALOG_FAILED", "It failed.");
    });

    const { row } = await world.run({}, failing);

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "CATALOG_FAILED" });
    expect(row.error_message).toMatch(/^PUBLISHED as number 0000000001, not recorded: It failed\. /);
    expect(await readRunResult(world.own, row.run_id)).toBeUndefined();
  });
});

test("a defect that shows right after the commit is thrown as it is", async () => {
  world.show(10);
  const defect = new TypeError("a defect");
  const catalog: RunPorts["catalog"] = {
    refresh: async () => {
      if (world.store.keys("publications/").length > 0) throw defect;
    },
  };

  await expect(world.run({}, { catalog })).rejects.toBe(defect);
  expect(rows(world)).toMatchObject([{ outcome: "FAILED", added: 10 }]);
});

test("an accept that fails for good has a line in the run log, and no outcome, which only runs have", async () => {
  const { world, held } = await heldWorld();
  world.store.put(layout(ACCOUNT).manifest(held), "damaged");

  const { row, error } = await world.accept(held);

  expect(error?.code).toBe("STORE_CORRUPT");
  expect(rows(world).at(-1)).toMatchObject({ run_id: row.run_id, outcome: "FAILED" });
  expect(world.store.text(layout(ACCOUNT).outcome(row.run_id))).toBeUndefined();
});

test.each(["PUBLISHED", "HELD"])(
  "a run that ends as %s takes the outcome that it wrote for its own, although the answer was lost",
  async (outcome) => {
    await world.publish(10);
    world.show(outcome === "HELD" ? 2 : 10, 2);
    const create: Store["create"] = async (key, body) => {
      const version = await world.store.create(key, body);
      // The request is sent again, and finds the file.
      return key.endsWith("/outcome.json") ? undefined : version;
    };

    const result = await world.run({}, { store: { ...interposed(world.store), create } });

    expect(result.row).toMatchObject({ outcome, attempt: 1 });
    expect(result).not.toHaveProperty("isRepeat");
  },
);

test("the publication of an accept is its own, also once another is later", async () => {
  const { world, held } = await heldWorld();
  const { row } = await world.accept(held);
  await world.publish(5, 9);

  expect(await publicationOf(world.own, row)).toMatchObject({ action: "accept", run_id: row.run_id });
});

describe("a run whose disk is full right after the commit", () => {
  test("says that it is published and not recorded; the next start records it, then makes its own run", async () => {
    world.show(10, 1);

    const { row, error } = await world.run({}, fullAfterCommit(world));

    expect(error?.message).toBe(
      `PUBLISHED as number 0000000001, not recorded: ${FULL} The snapshot stays published: the next run writes what is missing, and then makes its own.`,
    );
    expect(error?.code).toBe("STORE_FAILED");
    expect(row).toMatchObject({ outcome: "FAILED", added: 10, error_message: error?.message });
    expect(rows(world)).toEqual([]);

    world.show(10, 2);
    const next = await world.run();

    expect(next.row).toMatchObject({ outcome: "PUBLISHED", changed: 10 });
    expect(rows(world)).toEqual([
      { run_id: row.run_id, attempt: 1, trigger: "manual", outcome: "PUBLISHED", added: 10 },
      { run_id: next.row.run_id, attempt: 1, trigger: "manual", outcome: "PUBLISHED", added: 0 },
    ]);
    expect((await readRunResult(world.own, row.run_id))?.row.outcome).toBe("PUBLISHED");
  });

  test.each([
    ["with --fresh", { fresh: true }, 1],
    ["days later", {}, 3 * DAY_MS],
    ["by a schedule", { runId: SCHEDULED }, 1],
  ])("is recorded by a start %s", async (_, start, laterMs) => {
    world.show(10);
    const { row } = await world.run({}, fullAfterCommit(world));
    world.clock.advance(laterMs);

    await world.run(start);

    expect(rows(world).filter(({ run_id }) => run_id === row.run_id)).toMatchObject([
      { outcome: "PUBLISHED" },
    ]);
  });

  test("has one line where only the outcome did not fit", async () => {
    world.show(10);
    const { row, error } = await world.run({}, fullAfterCommit(world, "runs/"));
    expect(error?.message).toContain("PUBLISHED as number 0000000001, not recorded: ");

    await world.run();

    expect(rows(world).filter(({ run_id }) => run_id === row.run_id)).toHaveLength(1);
    expect((await readRunResult(world.own, row.run_id))?.row.outcome).toBe("PUBLISHED");
  });
});

describe("a run that is published and not recorded", () => {
  const DOUBT = { why: "limit", entries: 10, places: ["/limit"] } as const;
  const doubted = (world: SmallWorld) =>
    serviceWith(world.ports(), (service) => ({
      list: async (...request) => ({ ...(await service.list(...request)), doubt: DOUBT }),
    }));

  test("ends as published by the retry, with the doubt about its list", async () => {
    world.show(10);
    await world.run({ runId: SCHEDULED }, { ...doubted(world), ...catalogFails(world, "CATALOG_FAILED") });

    const { row, doubt } = await world.run({ runId: SCHEDULED });

    expect(row.outcome).toBe("PUBLISHED");
    expect(doubt).toEqual(DOUBT);
  });

  test("is said to be published also by a retry that cannot record it", async () => {
    world.show(10);
    await world.run({ runId: SCHEDULED }, catalogFails(world, "CATALOG_FAILED"));

    const { error } = await world.run({ runId: SCHEDULED }, { store: refusing(world.store, "run-log/") });

    expect(error?.message).toMatch(/^PUBLISHED as number 0000000001, not recorded: for a moment /);
  });

  test("stops a start that cannot record it, before anything is sent", async () => {
    world.show(10);
    const { row } = await world.run({}, fullAfterCommit(world));

    const next = await world.run({}, { store: refusing(world.store, `run-log/uk/${row.run_id}`) });

    expect(next.row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
    expect(world.details).toBe(10);
  });
});

describe("a scheduled run whose catalog fails after the commit", () => {
  test.each(["CATALOG_FAILED", "STORE_CORRUPT"] as const)(
    "is not finished by %s: its retry ends as published, without a request",
    async (code) => {
      world.show(10);

      const { row, error } = await world.run({ runId: SCHEDULED }, catalogFails(world, code));

      expect(error).toMatchObject({
        code,
        message: expect.stringMatching(/^PUBLISHED as number 0000000001, /),
      });
      expect(await readRunResult(world.own, row.run_id)).toBeUndefined();
      const retry = await world.run({ runId: SCHEDULED });
      expect(retry.row).toMatchObject({ outcome: "PUBLISHED", added: 10, attempt: 2 });
      expect(world.details).toBe(10);
    },
  );

  test("is recorded with its trigger by the start of another run", async () => {
    world.show(10);
    const { row } = await world.run({ runId: SCHEDULED }, catalogFails(world, "CATALOG_FAILED"));
    world.clock.advance(30 * DAY_MS);

    await world.run();

    expect(rows(world).filter(({ run_id }) => run_id === row.run_id)).toMatchObject([
      { trigger: "schedule", outcome: "FAILED" },
      { trigger: "schedule", outcome: "PUBLISHED" },
    ]);
  });
});

describe.each(["run", "the same again"])(
  "an accept and a rollback whose disk is full right after the commit",
  (next) => {
    test.each(["accept", "rollback"] as const)(`are recorded by the next ${next}: %s`, async (action) => {
      world.show(10, 1);
      const first = await world.run();
      await world.publish(10, 2);
      const request =
        action === "accept"
          ? ({ action, snapshotId: first.row.run_id, force: true } as const)
          : ({ action, snapshotId: first.row.run_id, pin: false } as const);

      const { row, error } = await world.acceptOrRollback(request, fullAfterCommit(world));

      expect(error?.message).toContain(`PUBLISHED as number 0000000003, not recorded: ${FULL}`);
      expect((await readLog(world.own)).at(-1)?.run_id).toBe(row.run_id);
      await (next === "run" ? world.run() : world.acceptOrRollback(request));
      expect(rows(world).filter(({ run_id }) => run_id === row.run_id)).toMatchObject([
        { trigger: action, outcome: "PUBLISHED", attempt: 1 },
      ]);
      expect(world.store.text(layout(ACCOUNT).outcome(row.run_id))).toBeUndefined();
    });
  },
);
