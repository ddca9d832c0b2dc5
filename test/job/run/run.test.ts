import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { status } from "../../../lambdas/job/commands/status.ts";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunStart } from "../../../lambdas/job/run/run.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { settled } from "../../simulator/manual-clock.ts";
import { customEvent, makeEvent, makeEvents, uuidOf } from "../../simulator/simulated-event.ts";
import { acquired } from "../service/rate-limit/rate-limiter-setup.ts";
import { interposed, refusing } from "./interposed-store.ts";
import { serviceWith } from "./run-defaults.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";
import { SmallWorld } from "./small-world.ts";

const RUN = "2026-11-21T06-00-00.000Z";

describe("a run", () => {
  test("publishes every listed event, and writes the files of the warehouse format and no others [D2]", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(25) }, { rangeEvents: 10 });

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
    const keys = sandbox.store
      .keys()
      .map((key) => key.replace(/-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/, "-TOKEN"));
    expect(keys).toEqual([
      "accounts/uk/lease.json",
      `changes/uk/0000000001/${RUN}/part-00000.ndjson.gz`,
      `changes/uk/0000000001/${RUN}/part-00001.ndjson.gz`,
      `changes/uk/0000000001/${RUN}/part-00002.ndjson.gz`,
      "columns.json",
      "publications/uk/0000000001.ndjson",
      `run-log/uk/${RUN}-1.ndjson`,
      `runs/uk/${RUN}/outcome.json`,
      `runs/uk/${RUN}/plan.ndjson.gz`,
      `runs/uk/${RUN}/record-00000000.json`,
      `runs/uk/${RUN}/record-00000010.json`,
      `runs/uk/${RUN}/record-00000020.json`,
      `runs/uk/${RUN}/rows-00000000-TOKEN.ndjson.gz`,
      `runs/uk/${RUN}/rows-00000010-TOKEN.ndjson.gz`,
      `runs/uk/${RUN}/rows-00000020-TOKEN.ndjson.gz`,
      `snapshots/uk/${RUN}/_manifest.json`,
      `snapshots/uk/${RUN}/part-00000.ndjson.gz`,
      `snapshots/uk/${RUN}/part-00001.ndjson.gz`,
      `snapshots/uk/${RUN}/part-00002.ndjson.gz`,
    ]);
  });

  test("reports its progress from what is staged to the end", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(7) });

    await sandbox.run();

    expect(sandbox.progress.map(({ done }) => done)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 7, total: 7 });
  });

  test("says how long a limit makes it at the least", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(90) },
      { requestsPerMinute: 30, windowMs: 60_000 },
    );

    await sandbox.run();

    expect(sandbox.log.text).toMatch(/90 events, about [2-4] min/);
  });

  test("that is stopped keeps what is fetched, frees the lease, and resumes later", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30) },
      { rangeEvents: 10, concurrency: 1 },
    );
    const stopped = await sandbox.interrupt(15);
    const lease = (await status(sandbox.own, sandbox.clock.now())).lease;
    sandbox.simulator.reset();
    const next = await sandbox.run();

    expect(stopped.row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
    expect(lease).toBeNull();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: stopped.row.run_id, events: 30 });
    // What came while the fifteenth was taken is kept as well.
    expect(sandbox.simulator.counts.list).toBe(0);
    expect(sandbox.simulator.counts.details).toBeLessThanOrEqual(15);
  });

  test("rethrows an unexpected error, and logs it without its message", async () => {
    await using sandbox = await Sandbox.start();
    const defect = new TypeError("canary in a message");

    const running = sandbox.run({ runId: RUN }, { openService: () => Promise.reject(defect) });

    await expect(running).rejects.toBe(defect);
    const line = sandbox.store.text(layout(ACCOUNT).runLog(RUN, 1)) ?? "";
    expect(JSON.parse(line)).toMatchObject({ outcome: "FAILED", error_code: null });
    expect(line).toContain("TypeError");
    expect(line).not.toContain("canary");
  });
});

/** Of three events: the compressor has something to write before the range is whole, and room for all of them. */
const NOISE = randomBytes(75_000).toString("hex");

test("a store that fails while a request is in flight", async () => {
  const world = new SmallWorld({ rangeEvents: 100 });
  world.show(20);
  const full = new SyncError("STORE_FAILED", "the disk is full");
  const inner = interposed(world.store);
  const store: Store = {
    ...inner,
    create: async (key, body) => {
      if (!key.includes("/rows-") || body instanceof Uint8Array) return inner.create(key, body);
      for await (const _ of body) {
        // The next row is waited for by then.
        while (endless === 0) await nextTurn();
        await settled();
        throw full;
      }
      return undefined;
    },
  };
  let endless = 0;
  let aborted = 0;
  const unanswered = serviceWith(world.ports(), (service) => ({
    detail: async (requestAs, signal) => {
      if (world.details < 3) {
        const detail = await service.detail(requestAs, signal);
        return detail.kind === "event" ? { ...detail, event: `{"noise":"${NOISE}"}` } : detail;
      }
      endless += 1;
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          aborted += 1;
          reject(signal.reason);
        });
      });
    },
  }));

  const { error } = await world.run({}, { store, ...unanswered });

  expect(error).toBe(full);
  expect(aborted).toBeGreaterThan(0);
});

test.each([
  ["outcome", "/outcome.json"],
  ["line in the run log", "run-log/"],
])(
  "a store that fails when the %s of a failed run is written hides nothing of the failure",
  async (_, at) => {
    const world = new SmallWorld();
    const store = refusing(world.store, at);
    const openService: RunPorts["openService"] = () => {
      throw new SyncError("UNEXPECTED_RESPONSE", "The list is no JSON.");
    };

    const { row, error } = await world.run({}, { store, openService });

    expect(row).toMatchObject({ outcome: "FAILED", attempt: 1, error_code: "UNEXPECTED_RESPONSE" });
    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(world.log.text).toContain("the result of this attempt could not be written to the warehouse");
  },
);

test("a run begins once it is told that it does", async () => {
  const world = new SmallWorld();
  world.show(3);
  const order: string[] = [];
  const onStarted: RunPorts["onStarted"] = async ({ runId }) => {
    await settled();
    order.push(runId);
  };
  const listing = serviceWith(world.ports(), (service) => ({
    list: (...request) => {
      order.push("lists");
      return service.list(...request);
    },
  }));

  const { row } = await world.run({}, { ...listing, onStarted });

  expect(order).toEqual([row.run_id, "lists"]);
});

test.each<[string, Partial<RunStart>]>([
  ["a run", {}],
  ["a dry run", { dryRun: { limit: undefined } }],
])("%s says how long it takes, once the sizes of bodies are known", async (_, start) => {
  const world = new SmallWorld({ bytesPerMinute: 1_000_000 });
  world.show(100);
  let isKnown = false;
  const sized = serviceWith(world.ports(), (service, limiter) => ({
    detail: (...request) => {
      if (!isKnown) acquired(limiter).settle(100_000);
      isKnown = true;
      return service.detail(...request);
    },
  }));

  await world.run(start, sized);

  expect(world.log.text).toMatch(/^.*80 events, about \d+ min/m);
});

describe("a failure that a person at a terminal has caused", () => {
  const MISTYPED = "CONFIG_INVALID";

  test.each<{ isUnattended: boolean | undefined; code: ErrorCode; lines: number }>([
    { isUnattended: false, code: MISTYPED, lines: 0 },
    { isUnattended: false, code: "UNEXPECTED_RESPONSE", lines: 1 },
    { isUnattended: true, code: MISTYPED, lines: 1 },
    { isUnattended: undefined, code: MISTYPED, lines: 1 },
  ])("without a person: $isUnattended, by $code, has lines in the run log: $lines", async (failure) => {
    const { isUnattended, code, lines } = failure;
    const world = new SmallWorld();
    const openService = () => Promise.reject(new SyncError(code, "It is wrong."));

    const { row, error } = await world.run(
      {},
      { openService, ...(isUnattended !== undefined && { isUnattended }) },
    );

    expect(error?.code).toBe(code);
    expect(row).toMatchObject({ outcome: "FAILED", attempt: 1, error_code: code });
    expect(world.store.keys("run-log/")).toHaveLength(lines);
  });

  test("is in the run log where something is published already", async () => {
    const world = new SmallWorld();
    world.show(3);
    const catalog: RunPorts["catalog"] = {
      refresh: async () => {
        if (world.store.keys("publications/").length > 0) throw new SyncError(MISTYPED, "It is wrong.");
      },
    };

    const { row } = await world.run({}, { catalog, isUnattended: false });

    expect(row).toMatchObject({ outcome: "FAILED", events: 3, error_code: MISTYPED });
    expect(world.store.keys("run-log/")).toHaveLength(1);
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

  test("counts what has no details by its reason, and says so as it goes on", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(30) }, { maxMissingPercent: 50 });
    const [forbidden, gone, oversize, deep] = sandbox.simulator.listed().map(({ uuid }) => uuid);
    if (!forbidden || !gone || !oversize || !deep) throw new Error("too few events");
    sandbox.simulator.restrict(forbidden);
    sandbox.simulator.vanish(gone);
    const [long, nested] = ["x".repeat(4 * 1024 * 1024), `${"[".repeat(1_000)}${"]".repeat(1_000)}`];
    sandbox.simulator.change(oversize, { source: `{"uuid":"${oversize}","text":"${long}"}` });
    sandbox.simulator.change(deep, { source: `{"uuid":"${deep}","x":${nested}}` });

    const result = await sandbox.run({ dryRun: { limit: undefined } });

    expect(result.row).toMatchObject({ listed: 30, events: 26, forbidden: 1, gone: 1, rejected: 2 });
    expect(result.row).toMatchObject({ reason: null, added: 26 });
    expect(result).not.toHaveProperty("columns");
    expect(sandbox.progress.map(({ done, total }) => [done, total])).toEqual(
      Array.from({ length: 30 }, (_, at) => [at + 1, 30]),
    );
  });

  test("shows the first three values of each column of one's own", async () => {
    const lifted = ["version", "none"].map((name) => ({ name, pointer: `/${name}` }));
    const world = new SmallWorld({ lifted });
    world.show(6);

    const { columns } = await world.run({ dryRun: { limit: undefined } });

    expect(columns).toEqual([
      { name: "version", pointer: "/version", values: ["1", "1", "1"] },
      { name: "none", pointer: "/none", values: [] },
    ]);
  });

  test("names each event that differs from what readers see, with its pointers or why it is missing", async () => {
    const events = ["a", "b", "c", "d", "e", "f"].map((name) => customEvent(name, `"n":1,"m":{"x":1,"y":2}`));
    const [reordered, changed, missing, forbidden, unlisted] = events;
    if (!reordered || !changed || !missing || !forbidden || !unlisted) throw new Error("too few events");
    await using sandbox = await Sandbox.start({ events }, { maxMissingPercent: 100, maxDropPercent: 100 });
    await sandbox.run();
    const { simulator } = sandbox;
    const added = customEvent("g", '"n":1');
    simulator.setEvents([...events.filter((event) => event !== unlisted), added]);
    simulator.change(reordered.uuid, { source: `{"m":{"y":2,"x":1},"n":1,"uuid":"${reordered.uuid}"}` });
    simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}","n":1.0,"m":{"x":1,"y":3}}` });
    simulator.vanish(missing.uuid, 410);
    simulator.restrict(forbidden.uuid);

    const { row, differing } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", added: 1, changed: 1, removed: 3 });
    const named = [
      { uuid: changed.uuid, change: "changed", fields: ["/m/y", "/n"], reason: null },
      { uuid: missing.uuid, change: "removed", fields: null, reason: "gone" },
      { uuid: forbidden.uuid, change: "removed", fields: null, reason: "forbidden" },
      { uuid: unlisted.uuid, change: "removed", fields: null, reason: "not_listed" },
      { uuid: added.uuid, change: "added", fields: null, reason: null },
    ];
    expect(differing).toEqual(named.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1)));
  });

  test("names no event where readers see nothing, and 100 of more", async () => {
    const world = new SmallWorld();
    world.show(120);

    const first = await world.run({ dryRun: { limit: undefined } });
    await world.publish(120);
    world.show(120, 2);
    const second = await world.run({ dryRun: { limit: undefined } });

    expect(first.row).toMatchObject({ added: 120 });
    expect(first).not.toHaveProperty("differing");
    expect(second.row).toMatchObject({ added: 0, changed: 120, removed: 0 });
    expect(second.differing).toHaveLength(100);
  });

  test("with a limit fetches only so many, and compares only up to the last of them", async () => {
    const world = new SmallWorld();
    await world.publish(10);
    const byUuid = [...world.events.keys()].map((n) => ({ n, uuid: uuidOf(`small ${n}`) }));
    byUuid.sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
    world.show(10, 2);
    for (const at of [1, 4]) world.events.delete(byUuid[at]?.n ?? 0);
    world.details = 0;

    const { row, differing = [] } = await world.run({ dryRun: { limit: 3 } });

    expect(world.details).toBe(3);
    expect(row).toMatchObject({ outcome: "DRY_RUN", listed: 8, events: 3, added: 0, changed: 3, removed: 1 });
    expect(differing.map(({ uuid }) => uuid)).toEqual(byUuid.slice(0, 4).map(({ uuid }) => uuid));
  });

  test("stops in time, and says so", async () => {
    const world = new SmallWorld({ concurrency: 1 });
    world.show(30);
    let leftMs = 60_000;
    const onProgress = (): void => {
      leftMs -= 10_000;
    };

    const { row } = await world.run({ dryRun: { limit: 20 } }, { timeLeftMs: () => leftMs, onProgress });

    expect(row).toMatchObject({
      outcome: "FAILED",
      reason: "DRY_RUN",
      error_code: "INTERRUPTED",
      error_message: expect.stringMatching(
        /^The time limit was reached after 4 of 20 events\. A lower limit/,
      ),
    });
  });
});
