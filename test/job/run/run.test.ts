import { describe, expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { status } from "../../../lambdas/job/run/status.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { makeEvent, makeEvents } from "../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";

const RUN = "2026-11-21T06-00-00.000Z";

describe("a run", () => {
  test("publishes every listed event, and writes what the design says and nothing else", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(25) }, { shardSize: 10 });

    const { row } = await sandbox.run({ runId: RUN });

    expect(row).toMatchObject({
      run_id: RUN,
      attempt: 1,
      trigger: "schedule",
      outcome: "PUBLISHED",
      snapshot_id: RUN,
      listed: 25,
      events: 25,
      added: 25,
      changed: 0,
      removed: 0,
      gone: 0,
      forbidden: 0,
      rejected: 0,
      requests: 27,
      retries: 0,
      throttled: 0,
      logins: 1,
      reason: null,
      error_code: null,
      error_message: null,
    });
    expect(await sandbox.events()).toEqual(sandbox.truth());
    expect(sandbox.store.keys()).toEqual([
      "accounts/uk/lease.json",
      `changes/uk/0000000001/${RUN}/part-00000.ndjson.gz`,
      "publications/uk/0000000001.ndjson",
      `run-log/uk/${RUN}-1.ndjson`,
      `runs/uk/${RUN}/outcome.json`,
      `runs/uk/${RUN}/plan.ndjson.gz`,
      `runs/uk/${RUN}/shard-00000.ndjson.gz`,
      `runs/uk/${RUN}/shard-00001.ndjson.gz`,
      `runs/uk/${RUN}/shard-00002.ndjson.gz`,
      `snapshots/uk/${RUN}/_manifest.json`,
      `snapshots/uk/${RUN}/part-00000.ndjson.gz`,
    ]);
  });

  test("publishes what changed against the head", async () => {
    await using sandbox = await Sandbox.start();
    await sandbox.run();
    const [one, two] = sandbox.simulator.listed();
    if (!one || !two) throw new Error("too few events");
    sandbox.simulator.unlist(one.uuid);
    sandbox.simulator.change(two.uuid, { source: `{"uuid":"${two.uuid}","date":"2026-02-02"}` });
    sandbox.simulator.add(makeEvent(101), makeEvent(102));

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 101, added: 2, changed: 1, removed: 1 });
    const head = (await status(sandbox.store, ACCOUNT, sandbox.clock.now())).head;
    expect(head).toMatchObject({
      publication: "0000000002",
      action: "run",
      added: 2,
      changed: 1,
      removed: 1,
    });
    expect(await sandbox.events()).toEqual(sandbox.truth());
  });

  test("reports its progress from what is staged to the end", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(7) });

    await sandbox.run();

    expect(sandbox.progress.map(({ done }) => done)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 7, total: 7 });
  });

  test("says how long a limit makes it at the least", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30) },
      { requestsPerMinute: 20, windowMs: 10_000 },
    );

    await sandbox.run();

    expect(sandbox.log.text).toContain("30 requests at 20 a minute take at least 1 min");
  });

  test("that is stopped keeps what is fetched, frees the lease, and goes on later", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(30) }, { shardSize: 10, concurrency: 1 });
    const stop = new AbortController();
    const reason = new SyncError("INTERRUPTED", "stopped");

    const stopped = await sandbox.run(
      {},
      {
        signal: stop.signal,
        onProgress: ({ done }) => {
          if (done === 15) stop.abort(reason);
        },
      },
    );
    const lease = (await status(sandbox.store, ACCOUNT, sandbox.clock.now())).lease;
    sandbox.simulator.reset();
    const next = await sandbox.run();

    expect(stopped.row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
    expect(lease).toBeNull();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: stopped.row.run_id, events: 30 });
    // What came while the fifteenth was taken is kept as well.
    expect(sandbox.simulator.counts.list).toBe(0);
    expect(sandbox.simulator.counts.details).toBeLessThanOrEqual(15);
  });

  test("does not swallow what nobody foresaw, but logs it without its message", async () => {
    await using sandbox = await Sandbox.start();
    const defect = new TypeError("canary in a message");

    const running = sandbox.run({ runId: RUN }, { openService: () => Promise.reject(defect) });

    await expect(running).rejects.toBe(defect);
    const line = sandbox.store.text(layout.runLog(ACCOUNT, RUN, 1)) ?? "";
    expect(JSON.parse(line)).toMatchObject({ outcome: "FAILED", error_code: null });
    expect(line).toContain("TypeError");
    expect(line).not.toContain("canary");
  });
});

describe("an unfinished run", () => {
  /** Three shards of ten; the run was stopped in the middle of the second. */
  async function unfinished(settings = {}): Promise<Sandbox> {
    const sandbox = await Sandbox.start(
      { events: makeEvents(30) },
      { shardSize: 10, concurrency: 1, ...settings },
    );
    const stop = new AbortController();
    await sandbox.run(
      {},
      {
        signal: stop.signal,
        onProgress: ({ done }) => {
          if (done === 12) stop.abort(new SyncError("INTERRUPTED", "stopped"));
        },
      },
    );
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

  test.each<{ why: string; change: (sandbox: Sandbox) => void; start: object }>([
    { why: "with --fresh", change: () => undefined, start: { fresh: true } },
    {
      why: "by a triggered start of another run",
      change: () => undefined,
      start: { runId: "2099-01-01T00-00-00.000Z" },
    },
    {
      why: "under other settings",
      change: (sandbox) => {
        sandbox.settings = { ...sandbox.settings, isListed: "any" };
      },
      start: {},
    },
    {
      why: "when its last progress is too old",
      change: (sandbox) => {
        sandbox.settings = { ...sandbox.settings, resumeWithinMinutes: 0 };
      },
      start: {},
    },
    { why: "by a dry run", change: () => undefined, start: { dryRun: { limit: undefined } } },
  ])("is not adopted $why", async ({ change, start }) => {
    await using sandbox = await unfinished();
    change(sandbox);

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

  test("is refused by its own trigger when settings that shape rows have changed", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(30) }, { shardSize: 10, concurrency: 1 });
    const stop = new AbortController();
    const onProgress = ({ done }: { done: number }): void => {
      if (done === 12) stop.abort(new SyncError("INTERRUPTED", "stopped"));
    };
    await sandbox.run({ runId: RUN }, { signal: stop.signal, onProgress });
    sandbox.settings = { ...sandbox.settings, detailPointer: "/data" };

    const { error } = await sandbox.run({ runId: RUN });

    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("Start a new run"),
    });
  });
});

describe("a dry run", () => {
  test("counts what a run would do, and writes nothing but its line in the log", async () => {
    await using sandbox = await Sandbox.start();
    await sandbox.run();
    sandbox.simulator.add(makeEvent(101));
    const before = sandbox.store.keys();

    const { row } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({
      outcome: "DRY_RUN",
      listed: 101,
      events: 101,
      added: 1,
      changed: 0,
      removed: 0,
    });
    expect(sandbox.store.keys().filter((key) => !before.includes(key))).toEqual([
      `run-log/uk/${row.run_id}-1.ndjson`,
    ]);
  });

  test("with a limit fetches only so many", async () => {
    await using sandbox = await Sandbox.start();

    const { row } = await sandbox.run({ dryRun: { limit: 3 } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", listed: 100, events: 3, added: null, requests: 5 });
  });

  test("tells that a run would be held", async () => {
    await using sandbox = await Sandbox.start({ events: [] });

    const { row, explanation } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", reason: "NO_EVENTS" });
    expect(explanation).toContain("It would be held");
    expect(sandbox.store.keys("snapshots/")).toEqual([]);
  });
});
