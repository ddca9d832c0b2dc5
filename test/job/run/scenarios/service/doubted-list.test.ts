// A list that nothing calls whole is published, and its doubt goes with the snapshot, also where another process finishes the run.

import { describe, expect, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import type { FoundSetting } from "../../../../../lambdas/job/commands/check-service.ts";
import { discover } from "../../../../../lambdas/job/commands/discover.ts";
import { status } from "../../../../../lambdas/job/commands/status.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import type { ListDoubt, ListTrial } from "../../../../../lambdas/job/service/event-service.ts";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
import type { SimulatorOptions } from "../../../../simulator/settings.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { saidChecks } from "../../../../words/said.ts";
import { refusing } from "../../interposed-store.ts";
import { livingLease } from "../../lease/lease-world.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const RUN = "2026-11-21T06-00-00.000Z";

/** Thirty events, ten a range. */
const doubted = (settings: Partial<RunSettings> = {}, service: SimulatorOptions = {}): Promise<Sandbox> =>
  Sandbox.start(
    { events: makeEvents(30), ...service },
    { nextPage: undefined, rangeEvents: 10, concurrency: 1, ...settings },
  );

const DOUBT = expect.objectContaining({ why: "unsaid", entries: 30 });

const manifestDoubt = async ({ own }: Sandbox, snapshotId: string | null): Promise<ListDoubt | undefined> =>
  (await readManifest(own, snapshotId ?? "")).doubt;

describe("a list that nothing calls whole", () => {
  test("is published with its doubt, which is no reason, and which the status of what readers see has", async () => {
    await using sandbox = await doubted();

    const result = await sandbox.run({ runId: RUN });
    const again = await sandbox.run({ runId: RUN });

    expect(result).toMatchObject({ row: { outcome: "PUBLISHED", reason: null }, doubt: DOUBT });
    expect(again).toMatchObject({ isRepeat: true, doubt: DOUBT });
    expect(await manifestDoubt(sandbox, result.row.snapshot_id)).toEqual(DOUBT);
    expect(await status(sandbox.own, sandbox.clock.now())).toMatchObject({ doubt: DOUBT });
    expect(sandbox.log.text).not.toContain("whole");
  });

  test("keeps its doubt where another process finishes the run, which reads no list", async () => {
    await using sandbox = await doubted();

    const stopped = await sandbox.interrupt(12);
    sandbox.simulator.reset();
    const result = await sandbox.run();

    expect(stopped).toMatchObject({ row: { error_code: "INTERRUPTED" }, doubt: DOUBT });
    expect(result).toMatchObject({ row: { outcome: "PUBLISHED" }, doubt: DOUBT });
    expect(sandbox.simulator.counts.list).toBe(0);
    expect(await manifestDoubt(sandbox, result.row.snapshot_id)).toEqual(DOUBT);
  });

  test("loses its doubt where a person has said meanwhile that it is all; the run goes on", async () => {
    await using sandbox = await doubted();

    await sandbox.interrupt(12);
    sandbox.simulator.reset();
    sandbox.settings = { ...sandbox.settings, nextPage: "all" };
    const { row } = await sandbox.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.simulator.counts.list).toBe(0);
    expect(await manifestDoubt(sandbox, row.snapshot_id)).toBeUndefined();
  });

  test("has its doubt with a held snapshot and with its accept", async () => {
    await using sandbox = await doubted();
    await sandbox.run();
    for (const { uuid } of sandbox.simulator.listed().slice(0, 20)) sandbox.simulator.archive(uuid);

    const held = await sandbox.run();
    const accepted = await sandbox.decide({
      action: "accept",
      snapshotId: held.row.snapshot_id ?? "",
      force: false,
    });

    const ten = expect.objectContaining({ why: "unsaid", entries: 10 });
    expect(held).toMatchObject({ row: { outcome: "HELD" }, doubt: ten });
    expect(accepted).toMatchObject({ row: { outcome: "PUBLISHED" }, doubt: ten });
  });

  test("has no doubt where a person has said that it is all", async () => {
    await using sandbox = await doubted({ nextPage: "all" });

    const { doubt, row } = await sandbox.run();

    expect(doubt).toBeUndefined();
    expect(await manifestDoubt(sandbox, row.snapshot_id)).toBeUndefined();
  });

  test("is doubted by a dry run and by discover, which try nothing", async () => {
    await using sandbox = await doubted();

    const dry = await sandbox.run({ dryRun: { limit: 3 } });
    const found = await discover(sandbox.ports(), sandbox.settings, 3);

    expect([dry.doubt, "doubt" in found && found.doubt]).toEqual([DOUBT, DOUBT]);
    expect(sandbox.simulator.counts.list).toBe(2);
  });
});

describe("check of a list that is not whole, or may not be", () => {
  async function checked(sandbox: Sandbox, changes: Parameters<Sandbox["ports"]>[0] = {}) {
    const doubts: (readonly [ListDoubt, ListTrial | undefined])[] = [];
    const advice: FoundSetting[] = [];
    const found = await check(sandbox.ports(changes), sandbox.settings, {
      onDoubt: (...found) => doubts.push(found),
      onAdvice: (found) => advice.push(found),
    });
    const checks = saidChecks(found);
    const remedyOf = (name: string) => checks.find((one) => one.name === name)?.remedy;
    return { doubts, advice, list: remedyOf("list"), detail: remedyOf("detail") };
  }

  test("says what brought events that were not there", async () => {
    await using sandbox = await doubted({}, { list: { pageSize: 10, next: "none" } });

    const { doubts, advice } = await checked(sandbox);

    expect(doubts).toEqual([
      [
        expect.objectContaining({ why: "unsaid", entries: 10 }),
        { fits: "page={page}", brought: 10, tried: [] },
      ],
    ]);
    expect(advice).toEqual([{ setting: "nextPage", value: "page={page}" }]);
  });

  test.each([
    {
      parameter: "page",
      said: "with page={page} came 10 events that were not there. Set --next-page 'page={page}'",
    },
    { parameter: "p", said: "Tried, without other events: page={page}" },
  ])("where a page says that there is more, says: $said", async ({ parameter, said }) => {
    const list: ListOptions = { pageSize: 10, next: "none", parameter, members: { top: '"total":30' } };
    await using sandbox = await doubted({}, { list });

    const found = await checked(sandbox);

    expect(found.list).toContain(said);
    expect(found.advice).toHaveLength(parameter === "page" ? 1 : 0);
  });

  test("names a pointer that leads to the list, and one that leads to the event", async () => {
    await using sandbox = await doubted(
      { nextPage: "all" },
      { list: { shape: "result-items" }, detail: { raw: (body: string) => `[${body}]`, shape: "bare" } },
    );

    const before = await checked(sandbox);
    sandbox.settings = { ...sandbox.settings, listPointer: "/result/items" };
    const after = await checked(sandbox);

    expect(before.advice).toEqual([{ setting: "listPointer", value: "/result/items" }]);
    expect(after.advice).toEqual([{ setting: "detailPointer", value: "/0" }]);
    expect(after.detail).toContain("Set the place of the event: --detail-pointer /0.");
  });

  test("tries nothing under another's lease, nor where it is not known whether there is one", async () => {
    await using sandbox = await doubted();
    await checked(sandbox, { store: refusing(sandbox.store, "lease.json") });
    const unleased = sandbox.simulator.counts.list;
    sandbox.simulator.reset();
    sandbox.store.put(`accounts/${ACCOUNT}/lease.json`, livingLease(sandbox.clock.now()));

    await checked(sandbox);

    expect([unleased, sandbox.simulator.counts.requests]).toEqual([1, 0]);
  });
});
