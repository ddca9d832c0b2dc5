import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { RunStart } from "../../../../lambdas/job/run/run.ts";
import type { RunSettings } from "../../../../lambdas/job/run/run-settings.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { told } from "../../../words/said.ts";
import { ACCOUNT, Sandbox } from "../sandbox.ts";

const RUN = "2026-11-21T06-00-00.000Z";

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
