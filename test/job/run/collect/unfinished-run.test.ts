import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { removeAccount } from "../../../../lambdas/job/commands/decisions.ts";
import type { RunStart } from "../../../../lambdas/job/run/run.ts";
import type { RunSettings } from "../../../../lambdas/job/run/run-settings.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { makeEvents, uuidOf } from "../../../simulator/simulated-event.ts";
import { told } from "../../../words/said.ts";
import { ACCOUNT, Sandbox } from "../sandbox.ts";
import { DAY_MS, HOUR_MS, SmallWorld } from "../small-world.ts";

const RUN = "2026-11-21T06-00-00.000Z";
const RUN_AT = "2026-11-21T06:00:00.000Z";
const keys = layout(ACCOUNT);

describe("an unfinished run", () => {
  /** Three ranges of ten; the run was stopped in the middle of the second. */
  async function unfinished(start: Partial<RunStart> = {}, lifted?: RunSettings["lifted"]): Promise<Sandbox> {
    const ranges = { rangeEvents: 10, concurrency: 1, ...(lifted && { lifted }) };
    const sandbox = await Sandbox.start({ events: makeEvents(30) }, ranges);
    await sandbox.interrupt(12, start);
    sandbox.simulator.reset();
    return sandbox;
  }

  test("is adopted by a manual start, which says so", async () => {
    await using sandbox = await unfinished();

    const { row } = await sandbox.run();

    const [, done] = sandbox.log.text.match(/continues (\S+), (\d+) of 30 done/)?.slice(1) ?? [];
    expect(sandbox.log.text).toContain(`continues ${row.run_id}, ${done} of 30 done`);
    expect(Number(done)).toBeGreaterThanOrEqual(12);
    expect(sandbox.simulator.counts.details).toBe(30 - Number(done));
  });

  test.each<{ why: string; settings?: Partial<RunSettings>; start?: Partial<RunStart> }>([
    { why: "with --fresh", start: { fresh: true } },
    { why: "by a triggered start of another run", start: { runId: "2099-01-01T00-00-00.000Z" } },
    { why: "under other settings", settings: { isListed: "any" } },
    { why: "where the list is read page by page otherwise", settings: { nextPage: "none" } },
    {
      why: "where a column comes from another pointer",
      settings: { lifted: [{ name: "n", pointer: "/date" }] },
    },
    { why: "when its last progress is too old", settings: { resumeWithinMinutes: 0 } },
    { why: "by a dry run", start: { dryRun: { limit: undefined } } },
  ])("is not adopted $why", async ({ settings = {}, start = {} }) => {
    await using sandbox = await unfinished({}, settings.lifted && [{ name: "n", pointer: "/name" }]);
    sandbox.settings = { ...sandbox.settings, ...settings };

    const { row } = await sandbox.run(start);

    expect(["PUBLISHED", "DRY_RUN"]).toContain(row.outcome);
    expect(sandbox.simulator.counts).toMatchObject({ list: 1, details: 30 });
  });

  test("that a later snapshot has overtaken is not adopted", async () => {
    await using sandbox = await unfinished();
    await sandbox.run({ fresh: true });
    sandbox.simulator.reset();

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", attempt: 1 });
    expect(sandbox.simulator.counts.details).toBe(30);
  });

  test.each([
    { what: "", settings: {}, start: {} },
    { what: ", also an old one", settings: { resumeWithinMinutes: 0 }, start: {} },
    { what: ", also by a restart", settings: {}, start: { overDamaged: true } },
  ])("of another version of the program is named$what", async ({ settings, start }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) }, settings);
    sandbox.store.put(layout(ACCOUNT).plan(RUN), gzipSync('{"version":3}\n'));

    const { row } = await sandbox.run(start);

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 3 });
    expect(sandbox.log.text).toContain(
      `continues nothing: the run ${RUN} was begun by another version of this program, so its staged work cannot be continued`,
    );
  });

  test("is refused by its own trigger when settings that shape rows have changed", async () => {
    await using sandbox = await unfinished({ runId: RUN });
    sandbox.settings = { ...sandbox.settings, detailPointer: "/data" };

    const { error } = await sandbox.run({ runId: RUN });

    expect(told(error)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("Start a new run"),
    });
  });
});

describe("what a start by hand finds of earlier runs", () => {
  /** A run that stops once its plan is made. */
  async function planned(world: SmallWorld): Promise<string> {
    const before = new Set(world.store.keys(keys.runs));
    world.show(5);
    await world.crash("create runs/uk/", { fresh: true });
    const plan = world.store.keys(keys.runs).find((key) => !before.has(key));
    return plan?.split("/")[2] ?? "";
  }

  test("is continued beside a head in the future, which was there when it was planned", async () => {
    const world = new SmallWorld();
    await world.publish(3);
    await world.ahead(10 * DAY_MS, () => world.publish(4));
    const runId = await planned(world);

    expect((await world.run()).row).toMatchObject({ outcome: "PUBLISHED", run_id: runId });
  });

  test.each<[string, (world: SmallWorld) => Promise<unknown>]>([
    ["a head in the future came later", (world) => world.ahead(DAY_MS, () => world.run({ fresh: true }))],
    [
      "the account was removed since, and a process that was stopped has written since then",
      async (world) => {
        const written = await Promise.all(
          world.store.keys(keys.runs).map(async (key) => ({ key, stored: await world.store.read(key) })),
        );
        await removeAccount(world.ports());
        for (const { key, stored } of written) world.store.put(key, stored?.bytes ?? "");
      },
    ],
  ])("is not continued where %s", async (_, happens) => {
    const world = new SmallWorld();
    await world.publish(3);
    const runId = await planned(world);
    await happens(world);

    const { row } = await world.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(row.run_id).not.toBe(runId);
  });

  test.each([
    ["just so long ago as it may be", 0, true],
    ["longer ago", 1, false],
  ])("with a last progress %s", async (_, moreMs, isContinued) => {
    const world = new SmallWorld({ resumeWithinMinutes: 60 });
    const runId = await planned(world);
    world.clock.advance(HOUR_MS + moreMs - 1);

    const { row } = await world.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(row.run_id === runId).toBe(isContinued);
  });

  test("is named where all are too old: the newest", async () => {
    const world = new SmallWorld({ resumeWithinMinutes: 60 });
    await planned(world);
    const newest = await planned(world);
    world.clock.advance(2 * HOUR_MS);

    await world.run();

    expect(world.log.lines.filter((line) => line.includes("continues nothing"))).toEqual([
      expect.stringContaining(`the last progress of the run ${newest} is older than 60 minutes`),
    ]);
  });

  test("is not named where a later snapshot has overtaken it, nor is that one's run", async () => {
    const world = new SmallWorld({ resumeWithinMinutes: 60 });
    await planned(world);
    const { row } = await world.run({ fresh: true });
    await world.store.delete([keys.outcome(row.run_id)]);
    world.clock.advance(2 * HOUR_MS);

    await world.run();

    expect(world.log.text).not.toContain("continues nothing");
  });

  test("begins again where it has no plan", async () => {
    const world = new SmallWorld();
    world.show(3);
    world.store.put(keys.unread(RUN, uuidOf("small 1")), `{"found_at":"${RUN_AT}"}\n`);

    expect((await world.run({ runId: RUN })).row).toMatchObject({ outcome: "PUBLISHED", events: 3 });
  });

  const lifted = [{ name: "n", pointer: "/version" }];
  test.each([
    ["with", lifted, [], "a run with --lift n=/version continues its 0 of 5 events"],
    ["without", [], lifted, "a run without --lift continues its 0 of 5 events"],
  ])("is named %s the columns that it has", async (_, before, now, said) => {
    const world = new SmallWorld({ lifted: before });
    await planned(world);
    world.settings = { ...world.settings, lifted: now };

    await world.run();

    expect(world.log.text).toContain(said);
  });
});
