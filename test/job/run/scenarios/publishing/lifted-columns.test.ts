// Columns of one's own, from the service to the warehouse, which they belong to: a run that names none uses those that are
// there, and `columns.json` has them right before the publication that brings them.

import { describe, expect, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import { removeAccount } from "../../../../../lambdas/job/commands/decisions.ts";
import { discover } from "../../../../../lambdas/job/commands/discover.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import { liftText } from "../../../../../lambdas/job/settings/lifted-column.ts";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { readParts } from "../../../../../lambdas/job/snapshot/files/parts.ts";
import { parseLiftedColumns } from "../../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { readColumns } from "../../../../../lambdas/job/snapshot/rows/table-columns.ts";
import { COLUMNS_FILE, layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { customEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { said, saidChecks } from "../../../../words/said.ts";
import { CrashPoint } from "../../crash.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";
import { SmallWorld } from "../../small-world.ts";

const lifted = (...texts: readonly string[]): Pick<RunSettings, "lifted"> => ({
  lifted: parseLiftedColumns(texts),
});

/** Runs as the account with these columns. */
async function runAs(world: Sandbox | SmallWorld, account: string, ...texts: readonly string[]) {
  world.account = account;
  world.settings = { ...world.settings, ...lifted(...texts) };
  return world.run();
}

type AnyRow = Readonly<Record<string, string | null>>;

async function rowsOf(sandbox: Sandbox, snapshotId: string | null): Promise<readonly AnyRow[]> {
  const { parts } = await readManifest(sandbox.own, snapshotId ?? "");
  const lines = readParts(sandbox.store, layout(ACCOUNT).snapshot(snapshotId ?? ""), parts);
  return Array.fromAsync(lines, (line) => JSON.parse(line));
}

test("lifted columns follow the others in the rows, with numbers as they were, and are in the manifest", async () => {
  const events = [customEvent("x", '"n": 1.10 ,"big":{"value":1e400}')];
  await using sandbox = await Sandbox.start(
    { events },
    lifted("n=/n", "big=/big/value", "none=/x", "a=/big"),
  );

  const { row } = await sandbox.run();

  const [first = {}] = await rowsOf(sandbox, row.snapshot_id);
  expect(Object.entries(first).slice(5)).toEqual([
    ["n", "1.10"],
    ["big", "1e400"],
    ["none", null],
    ["a", '{"value":1e400}'],
  ]);
  const manifest = await readManifest(sandbox.own, row.snapshot_id ?? "");
  expect(Object.keys(first)).toEqual(manifest.columns);
  expect(manifest.lifted).toEqual([
    { name: "n", pointer: "/n" },
    { name: "big", pointer: "/big/value" },
    { name: "none", pointer: "/x" },
    { name: "a", pointer: "/big" },
  ]);
});

test.each([
  { what: "without a column", start: {}, settings: lifted("b=/b") },
  { what: "in another order", start: {}, settings: lifted("b=/b", "a=/a") },
  {
    what: "dry, in another order",
    start: { dryRun: { limit: undefined } },
    settings: lifted("b=/b", "a=/a"),
  },
  { what: "of another account", start: {}, account: "de", settings: lifted("c=/c") },
])("a run $what is refused before any request; the next one with all columns is not", async (one) => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) }, lifted("a=/a", "b=/b"));
  const before = sandbox.settings;
  await sandbox.run();
  sandbox.simulator.reset();
  sandbox.account = one.account ?? ACCOUNT;
  sandbox.settings = { ...before, ...one.settings };

  const refused = await sandbox.run(one.start);
  const requests = sandbox.simulator.requests.length;
  sandbox.settings = { ...sandbox.settings, lifted: [...before.lifted, { name: "z", pointer: "/z" }] };
  const next = await sandbox.run(one.start);

  expect(refused.row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID", requests: null });
  expect(said(refused.error)).toContain("Give --lift a=");
  expect(requests).toBe(0);
  expect(next.row.error_code).toBeNull();
});

test("a run is refused at its end when another account has published other columns meanwhile", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) }, lifted("a=/a"));
  const mine = sandbox.settings;
  const ports = sandbox.ports();
  const meanwhile = async (): Promise<void> => {
    sandbox.account = "de";
    sandbox.settings = { ...mine, ...lifted("b=/b") };
    expect((await sandbox.run()).row.outcome).toBe("PUBLISHED");
    sandbox.account = ACCOUNT;
    sandbox.settings = mine;
  };

  const { row } = await sandbox.run(
    {},
    {
      openService: async (rateLimiter) => {
        await meanwhile();
        return ports.openService(rateLimiter);
      },
    },
  );

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID" });
  expect(row.error_message).toContain("The tables have the columns b, and this run has a.");
  expect(await sandbox.events()).toEqual(new Map());
});

/** The columns of the account's snapshot, as `--lift` names them. */
async function liftedIn(sandbox: Sandbox, snapshotId: string | null): Promise<unknown> {
  const manifest = await readManifest(sandbox.own, snapshotId ?? "");
  return manifest.lifted.map(liftText);
}

interface Resumed {
  readonly what: string;
  /** The columns of the run that is stopped. */
  readonly begins: readonly string[];
  /** Accounts with the columns of their runs meanwhile. */
  readonly between?: readonly (readonly [account: string, ...texts: string[]])[];
  readonly ends?: readonly string[];
  readonly columns?: readonly string[];
}

describe("a run that names none", () => {
  test("uses those of the account's head with their types, which is no news, and changes no event", async () => {
    const COLUMNS = ["name=/name", "amount=/spend/amount:DECIMAL(18,2)"];
    await using sandbox = await Sandbox.start({ events: makeEvents(5) });
    await runAs(sandbox, "uk");
    await runAs(sandbox, "uk", ...COLUMNS);
    const said = sandbox.log.lines.length;

    const { row } = await runAs(sandbox, "uk");

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
    expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(COLUMNS);
    expect(sandbox.log.lines.slice(said).join()).not.toContain("columns");
  });

  test("says once which those are that another account has brought", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(5) });
    const said = (): readonly string[] =>
      sandbox.log.lines.filter((line) => line.includes("uses the lifted columns"));
    await runAs(sandbox, "de", "name=/name", "amount=/spend/amount:DECIMAL(18,2)");

    await runAs(sandbox, "uk");
    await runAs(sandbox, "uk");

    expect(said()).toEqual([
      expect.stringContaining("of the warehouse: name (/name), amount (/spend/amount, DECIMAL(18,2))"),
    ]);
  });

  test("dry, uses them as well", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name");
    sandbox.settings = { ...sandbox.settings, lifted: [] };

    const { row, columns } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", changed: 0 });
    expect(columns).toMatchObject([{ name: "name", pointer: "/name" }]);
  });

  test.each<Resumed>([
    { what: "with the columns that it began with", begins: [] },
    {
      what: "though another account appended columns",
      begins: [],
      between: [["de", "name=/name", "sector=/sector/name"]],
    },
    { what: "that named them", begins: ["name=/name"] },
    {
      what: "by one that names another type, which is no part of the work",
      begins: ["name=/name:DATE"],
      ends: ["name=/name:BIGINT"],
      columns: ["name=/name:BIGINT"],
    },
  ])(
    "resumes an unfinished one, $what",
    async ({ begins, between = [], ends = [], columns = ["name=/name"] }) => {
      await using sandbox = await Sandbox.start({ events: makeEvents(20) }, { rangeEvents: 5 });
      await runAs(sandbox, "uk", "name=/name");
      sandbox.settings = { ...sandbox.settings, ...lifted(...begins) };
      await sandbox.interrupt(12);
      for (const [account, ...texts] of between) await runAs(sandbox, account, ...texts);
      sandbox.simulator.reset();

      const { row } = await runAs(sandbox, "uk", ...ends);

      expect(row.outcome).toBe("PUBLISHED");
      expect(sandbox.simulator.counts.details).toBeLessThan(20);
      expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(columns);
    },
  );
});

const typed = (type: string): string => `amount=/spend/amount:${type}`;
const typesIn = async (sandbox: Sandbox): Promise<unknown> =>
  Object.fromEntries(
    (await readColumns(sandbox.store)).flatMap(({ name, type }) => (type ? [[name, type]] : [])),
  );

test("the type of a column for readers changes when a run names another one, which changes no row, and VARCHAR takes it away", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) });
  const { row: first } = await runAs(sandbox, "uk", typed("DECIMAL(18,2)"));

  const { row } = await runAs(sandbox, "uk", typed("DOUBLE"));
  const changed = await typesIn(sandbox);
  await runAs(sandbox, "uk", typed("VARCHAR"));

  expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
  expect(changed).toEqual({ amount: "DOUBLE" });
  expect(await typesIn(sandbox)).toEqual({ amount: "VARCHAR" });
  const [before, after] = await Promise.all(
    [first, row].map(({ snapshot_id }) => readManifest(sandbox.own, snapshot_id ?? "")),
  );
  expect(after?.parts).toEqual(before?.parts);
});

test("discover suggests what is no column yet, under names that are free", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) });
  await runAs(sandbox, "uk", "amount=/name");
  sandbox.settings = { ...sandbox.settings, lifted: [] };

  const found = await discover(sandbox.ports(), sandbox.settings, 10);

  if ("outcome" in found) throw new Error(found.explanation);
  expect(found.columns).toEqual([{ name: "amount", pointers: ["/name"], isOwn: true }]);
  const suggested = new Map(found.suggestions.map(({ name, pointer }) => [pointer, name]));
  expect(suggested.has("/name")).toBe(false);
  expect(suggested.get("/spend/amount")).toBe("spend_amount");
});

/** A warehouse in which `uk` has published the column `note`. */
async function worldWithNote(): Promise<SmallWorld> {
  const world = new SmallWorld();
  world.show(10);
  await runAs(world, "uk", "note=/note");
  return world;
}

const names = async (store: Store): Promise<readonly string[]> =>
  (await readColumns(store)).map(({ name }) => name);

test("a new column is the last thing that is written before the publication", async () => {
  const world = await worldWithNote();
  const crash = new CrashPoint(Infinity);
  world.settings = { ...world.settings, ...lifted("note=/note", "n=/n:BIGINT") };

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

test("a held run writes no column; accepting it does", async () => {
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

test("a damaged file ends a run before any request, and check says what to do", async () => {
  const world = await worldWithNote();
  world.store.put(COLUMNS_FILE, "damaged\n");
  world.details = 0;

  const { row, error } = await runAs(world, "uk");
  const { details } = world;
  const checks = saidChecks(await check(world.ports(), world.settings));

  const why = expect.stringMatching(
    /columns\.json is damaged: .*Restore it .*Or delete it: the next publication makes it again/,
  );
  expect(row).toMatchObject({ error_code: "STORE_CORRUPT", requests: null });
  expect(said(error)).toEqual(why);
  expect(details).toBe(0);
  expect(checks).toContainEqual({ name: "catalog", ok: false, code: "STORE_CORRUPT", remedy: why });
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
