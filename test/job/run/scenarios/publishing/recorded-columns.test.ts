// `columns.json`: the columns of the warehouse are written down right before the publication that brings them.

import { describe, expect, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import { removeAccount } from "../../../../../lambdas/job/commands/remove-account.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import { parseLiftedColumns } from "../../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { readColumns } from "../../../../../lambdas/job/snapshot/rows/table-columns.ts";
import { COLUMNS_FILE, layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { CrashPoint } from "../../crash.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

const lifted = (...texts: readonly string[]): Pick<RunSettings, "lifted"> => ({
  lifted: parseLiftedColumns(texts),
});

/** A warehouse in which `uk` has published the column `note`. */
async function worldWithNote(): Promise<SmallWorld> {
  const world = new SmallWorld();
  world.show(10);
  await runAs(world, "uk", "note=/note");
  return world;
}

async function runAs(world: SmallWorld, account: string, ...texts: readonly string[]) {
  world.account = account;
  world.settings = { ...world.settings, ...lifted(...texts) };
  world.clock.advance(60_000);
  return world.run();
}

const names = async (store: Store): Promise<readonly string[]> =>
  (await readColumns(store)).map(({ name }) => name);

/** The store, whose first replacement of the file comes after this work. */
function beforeReplacing(world: SmallWorld, work: () => Promise<unknown>): Store {
  let isFirst = true;
  return {
    ...interposed(world.store, async () => undefined),
    replace: async (key, bytes, version) => {
      if (key === COLUMNS_FILE && isFirst) {
        isFirst = false;
        const { settings } = world;
        await work();
        world.settings = settings;
      }
      return world.store.replace(key, bytes, version);
    },
  };
}

test("a new column is the last thing that is written before the publication", async () => {
  const world = await worldWithNote();
  const crash = new CrashPoint(Infinity);
  world.settings = { ...world.settings, ...lifted("note=/note", "n=/n:BIGINT") };
  world.clock.advance(60_000);

  const { row } = await world.run({}, crash.wrap(world.ports()));

  const at = crash.effects.indexOf(`replace ${COLUMNS_FILE}`);
  expect(crash.effects[at + 1]).toBe(`create ${layout(ACCOUNT).publication("0000000002")}`);
  const [first] = world.store.keys("snapshots/uk/").map((key) => key.split("/")[2]);
  expect(JSON.parse(world.store.text(COLUMNS_FILE) ?? "")).toEqual({
    version: 1,
    columns: [
      { name: "note", pointers: { uk: "/note" }, since: first },
      {
        name: "n",
        type: "BIGINT",
        typed_by: row.snapshot_id,
        pointers: { uk: "/n" },
        since: row.snapshot_id,
      },
    ],
  });
});

test("what is recorded already is not written again", async () => {
  const world = await worldWithNote();
  const crash = new CrashPoint(Infinity);
  world.clock.advance(60_000);

  await world.run({}, crash.wrap(world.ports()));

  expect(crash.effects.filter((effect) => effect.includes(COLUMNS_FILE))).toEqual([]);
});

describe("no column is written", () => {
  test("by a held run; accepting it does", async () => {
    const world = await worldWithNote();
    const before = world.store.text(COLUMNS_FILE);
    world.show(1);

    const { row } = await runAs(world, "uk", "note=/note", "n=/n");
    const held = world.store.text(COLUMNS_FILE);
    await world.accept(row.snapshot_id ?? "");

    expect(row.outcome).toBe("HELD");
    expect(held).toBe(before);
    expect(await names(world.store)).toEqual(["note", "n"]);
  });

  test("by a dry run", async () => {
    const world = await worldWithNote();
    const before = world.store.text(COLUMNS_FILE);
    world.settings = { ...world.settings, ...lifted("note=/note", "n=/n") };

    const { row } = await world.run({ dryRun: { limit: undefined } });

    expect(row.outcome).toBe("DRY_RUN");
    expect(world.store.text(COLUMNS_FILE)).toBe(before);
  });
});

describe("a run that loses the race for the file", () => {
  test("is refused where another account put another column in that place, and leaves that one", async () => {
    const world = await worldWithNote();
    const store = beforeReplacing(world, () => runAs(world, "de", "note=/note", "other=/other"));
    world.settings = { ...world.settings, ...lifted("note=/note", "n=/n") };

    const { row } = await world.run({}, { store });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID" });
    expect(row.error_message).toContain("The tables have the columns note, other, and this run has note, n.");
    expect(await names(world.store)).toEqual(["note", "other"]);
    expect(world.store.keys(layout("uk").publications)).toHaveLength(1);
  });

  test("is published where another account brought the same column, with a pointer of its own", async () => {
    const world = await worldWithNote();
    const store = beforeReplacing(world, () => runAs(world, "de", "note=/note", "n=/number"));
    world.settings = { ...world.settings, ...lifted("note=/note", "n=/n") };

    const { row } = await world.run({}, { store });

    expect(row.outcome).toBe("PUBLISHED");
    expect((await readColumns(world.store)).map(({ name, pointers }) => [name, pointers])).toEqual([
      ["note", { uk: "/note", de: "/note" }],
      ["n", { de: "/number", uk: "/n" }],
    ]);
  });
});

test("a crash between the file and the publication leaves a column without rows, which the next run fills", async () => {
  const world = await worldWithNote();
  const crash = new CrashPoint(`replace ${COLUMNS_FILE}`, "after");
  world.settings = { ...world.settings, ...lifted("note=/note", "n=/n") };
  world.clock.advance(60_000);

  await world.run({}, crash.wrap(world.ports())).catch(() => undefined);
  const crashed = [await names(world.store), world.store.keys(layout("uk").publications).length];
  world.dead.add(2);
  const { row } = await runAs(world, "uk");

  expect(crash.crashed).toBe(true);
  expect(crashed).toEqual([["note", "n"], 1]);
  expect(row.outcome).toBe("PUBLISHED");
  expect(world.store.text(layout("uk").manifest(row.snapshot_id ?? ""))).toContain(
    '"lifted":[{"name":"note"',
  );
});

describe("a warehouse without the file", () => {
  test("has the columns that its manifests say, and gets it with the next publication of any account", async () => {
    const world = await worldWithNote();
    await runAs(world, "de", "note=/note", "n=/number:BIGINT");
    const before = JSON.parse(world.store.text(COLUMNS_FILE) ?? "");
    await world.store.delete(COLUMNS_FILE);

    const read = await names(world.store);
    const { row } = await runAs(world, "uk");

    expect(read).toEqual(["note", "n"]);
    expect(row.outcome).toBe("PUBLISHED");
    const { columns } = JSON.parse(world.store.text(COLUMNS_FILE) ?? "");
    const [{ since: _, ...note }, n] = columns;
    expect(note).toEqual({ name: "note", pointers: { de: "/note", uk: "/note" } });
    expect(n).toEqual({ ...before.columns[1], pointers: { de: "/number", uk: "/number" } });
  });

  test("with it, damage of another account's files takes no column away", async () => {
    const world = await worldWithNote();
    await runAs(world, "de", "note=/note", "n=/number");
    for (const key of world.store.keys()) if (key.includes("/de/")) world.store.put(key, "damaged\n");

    const { row } = await runAs(world, "uk");

    expect(row.outcome).toBe("PUBLISHED");
    expect(await names(world.store)).toEqual(["note", "n"]);
  });
});

describe("a damaged file", () => {
  test.each([
    "damaged\n",
    '{"version":2,"columns":[]}\n',
    '{"version":1,"columns":[{"name":"a b","pointers":{},"since":""}]}\n',
    '{"version":1,"columns":[{"name":"uuid","pointers":{},"since":""}]}\n',
  ])("%j ends a run before any request, and check says what to do", async (text) => {
    const world = await worldWithNote();
    world.store.put(COLUMNS_FILE, text);
    world.details = 0;

    const { row } = await runAs(world, "uk");
    const { details } = world;
    const checks = await check(world.ports(), world.settings);

    const why = expect.stringMatching(
      /columns\.json is damaged: .*Restore it .*Or delete it: the next publication makes it again/,
    );
    expect(row).toMatchObject({ error_code: "STORE_CORRUPT", error_message: why, requests: null });
    expect(details).toBe(0);
    expect(checks).toContainEqual({ name: "catalog", ok: false, code: "STORE_CORRUPT", remedy: why });
  });

  test("is made again once it is deleted", async () => {
    const world = await worldWithNote();
    world.store.put(COLUMNS_FILE, "damaged\n");
    await world.store.delete(COLUMNS_FILE);

    const { row } = await runAs(world, "uk");

    expect(row.outcome).toBe("PUBLISHED");
    expect(JSON.parse(world.store.text(COLUMNS_FILE) ?? "").columns).toMatchObject([
      { name: "note", pointers: { uk: "/note" } },
    ]);
  });
});

test("a rollback gives the account its older pointers again, and no column is lost", async () => {
  const world = await worldWithNote();
  const { row: first } = await runAs(world, "uk", "note=/note", "n=/n");
  await runAs(world, "uk", "note=/other", "n=/n", "more=/more");

  await world.rollback(first.snapshot_id ?? "");

  expect((await readColumns(world.store)).map(({ name, pointers }) => [name, pointers])).toEqual([
    ["note", { uk: "/note" }],
    ["n", { uk: "/n" }],
    ["more", { uk: "/more" }],
  ]);
});

test("the columns stay when the last account is removed", async () => {
  const world = await worldWithNote();

  await removeAccount({ ...world.ports(), catalog: world.catalog });

  expect(world.store.keys()).toEqual([COLUMNS_FILE, layout("uk").publication("0000000002")]);
  expect(await names(world.store)).toEqual(["note"]);
});

test("an accept of a held snapshot appends its column, though another one stands in its place by now", async () => {
  const world = await worldWithNote();
  world.show(1);
  const { row } = await runAs(world, "uk", "note=/note", "n=/n");
  await runAs(world, "de", "note=/note", "other=/other");
  world.account = "uk";

  const accepted = await world.accept(row.snapshot_id ?? "");

  expect(accepted.row.outcome).toBe("PUBLISHED");
  expect(await names(world.store)).toEqual(["note", "other", "n"]);
});
