// A run that ends unfinished keeps every finished event of the units it had begun; the next start asks for the others.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { CrashPoint, type Moment } from "../crash.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, Sandbox } from "../sandbox.ts";
import {
  EVENTS,
  fetched,
  interrupt,
  keptKeys,
  others,
  partsOf,
  STOPPED,
  start,
  status,
} from "./interrupted-run.ts";

async function undisturbed(): Promise<unknown> {
  await using sandbox = await start();
  return partsOf(sandbox, await sandbox.run());
}
const whole = await undisturbed();

describe("an interrupted run", () => {
  test.each(
    [
      { concurrency: 1, shardSize: 60 },
      { concurrency: 64, shardSize: 60 },
      { concurrency: 64, shardSize: 7 },
    ].flatMap((settings) => [1, 2, 31, 59, 60, 61, 100, 149, 150].map((after) => ({ ...settings, after }))),
  )(
    "after $after events, $concurrency at once, $shardSize in a shard, is finished without fetching again",
    async ({ after, ...settings }) => {
      await using sandbox = await start(settings);
      const { result, finished } = await interrupt(sandbox, after);
      sandbox.simulator.reset();

      const next = await sandbox.run();

      expect(result.row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
      expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: result.row.run_id, attempt: 2 });
      expect(sandbox.log.text).toContain(`continues ${next.row.run_id}, ${finished.size} of 150 done`);
      expect(fetched(sandbox)).toEqual(others(finished));
      expect((next.row.requests ?? 0) - (next.row.logins ?? 0)).toBe(EVENTS - finished.size);
      expect(await partsOf(sandbox, next)).toEqual(whole);
    },
  );

  test("several times makes progress each time, with what earlier starts have kept", async () => {
    await using sandbox = await start({ concurrency: 8 });
    const finished = new Set<string>();
    for (let times = 0; times < 6; times += 1) {
      const interrupted = await interrupt(sandbox, 20);
      for (const uuid of interrupted.finished) {
        expect(finished).not.toContain(uuid);
        finished.add(uuid);
      }
    }
    sandbox.simulator.reset();

    const last = await sandbox.run();

    expect(finished.size).toBeGreaterThanOrEqual(120);
    expect(fetched(sandbox)).toEqual(others(finished));
    expect(last.row).toMatchObject({ outcome: "PUBLISHED", attempt: 7 });
    expect(await partsOf(sandbox, last)).toEqual(whole);
  });

  test("counts what is kept as progress, and says so", async () => {
    await using sandbox = await start();
    await interrupt(sandbox, 80);
    sandbox.progress.length = 0;

    await sandbox.run();

    expect(sandbox.log.text).toContain("80 of 150 events are kept for the next start of this run");
    expect(sandbox.progress[0]).toMatchObject({ done: 80, total: 150 });
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 150, total: 150 });
  });

  test("keeps nothing where it fetched nothing", async () => {
    await using sandbox = await start();
    await interrupt(sandbox, 20);

    const stop = new AbortController();
    await sandbox.run({}, { signal: stop.signal, onProgress: () => stop.abort(STOPPED) });

    expect(keptKeys(sandbox)).toHaveLength(1);
  });

  test.each([
    { what: "cut off", damage: (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 9) },
    { what: "empty", damage: () => new Uint8Array() },
    { what: "not ours", damage: () => new TextEncoder().encode("hello\n") },
  ])("whose kept file is $what fetches again", async ({ damage }) => {
    await using sandbox = await start();
    await interrupt(sandbox, 80);
    const [key = ""] = keptKeys(sandbox);
    sandbox.store.put(key, damage((await sandbox.store.read(key))?.bytes ?? new Uint8Array()));
    sandbox.simulator.reset();

    const next = await sandbox.run();

    expect(sandbox.simulator.counts.details).toBe(90);
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", attempt: 2 });
    expect(await partsOf(sandbox, next)).toEqual(whole);
  });

  test("whose newest kept file is damaged uses the one before, and keeps more beside it", async () => {
    await using sandbox = await start();
    await interrupt(sandbox, 10);
    await interrupt(sandbox, 10);
    sandbox.store.put(keptKeys(sandbox)[1] ?? "", "");
    sandbox.simulator.reset();

    const { result } = await interrupt(sandbox, 5);
    const next = await sandbox.run();

    expect(result.row.attempt).toBe(3);
    expect(keptKeys(sandbox).map((key) => key.slice(-15))).toEqual([
      "00000.ndjson.gz",
      "00001.ndjson.gz",
      "00002.ndjson.gz",
    ]);
    expect(sandbox.simulator.counts.details).toBe(140);
    expect(await partsOf(sandbox, next)).toEqual(whole);
  });

  test("keeps its work beside that of another process of the same run", async () => {
    await using sandbox = await start();
    const store = interposed(sandbox.store, async (key) => {
      if (key.includes("/kept-00000")) sandbox.store.put(key, "another's");
    });

    await interrupt(sandbox, 10, { store });

    expect(keptKeys(sandbox)).toHaveLength(2);
    expect(sandbox.log.text).toContain("10 of 150 events are kept");
  });

  test("ends as INTERRUPTED when the store fails, and says what that costs", async () => {
    await using sandbox = await start();
    const store = interposed(sandbox.store, async (key) => {
      if (key.includes("/kept-")) throw new SyncError("STORE_FAILED", "the disk is full");
    });

    const { result } = await interrupt(sandbox, 10, { store });

    expect(result.error).toBe(STOPPED);
    expect(sandbox.log.text).toContain("could not be kept; the next start fetches them again");
    expect(keptKeys(sandbox)).toEqual([]);
  });
});

describe("a run that fails within a shard", () => {
  test.each([
    { code: "SERVICE_UNAVAILABLE", fault: status(503), kept: 1 },
    {
      code: "THROTTLED",
      fault: { kind: "status", status: 429, headers: { "retry-after": "3600" } },
      kept: 1,
    },
    { code: "UNEXPECTED_RESPONSE", fault: status(302), kept: 0 },
  ] as const)("as $code leaves $kept file of kept work", async ({ code, fault, kept }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(30) }, { concurrency: 1 });
    const match = { path: "detail", nth: 21, times: Number.POSITIVE_INFINITY } as const;
    sandbox.simulator.configure({ faults: [{ match, fault }] });
    const failed = await sandbox.run();
    sandbox.simulator.configure({ faults: [] });
    sandbox.simulator.reset();

    const next = await sandbox.run();

    expect(failed.row).toMatchObject({ outcome: "FAILED", error_code: code });
    expect(keptKeys(sandbox)).toHaveLength(kept);
    expect(next.row.outcome).toBe("PUBLISHED");
    expect(sandbox.simulator.counts.details).toBe(kept === 1 ? 10 : 30);
  });

  test("because it lost the lease writes nothing", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30), latencyMs: 2_000 },
      { concurrency: 1 },
    );
    const takeOver = ({ done }: { done: number }): void => {
      if (done === 5) sandbox.store.put(layout.lease(ACCOUNT), foreignLease(sandbox.clock.now()));
    };

    const { row } = await sandbox.run({}, { onProgress: takeOver });

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_LOST" });
    expect(keptKeys(sandbox)).toEqual([]);
  });
});

describe("a process that crashes while it keeps its work", () => {
  test.each(["before", "after"] as const)("%s the write: the next start finishes", async (moment: Moment) => {
    await using sandbox = await start();
    let crashed = false;
    const store = interposed(sandbox.store, async () => undefined);
    const dying: typeof store = {
      ...store,
      create: async (key, body) => {
        if (!key.includes("/kept-")) return store.create(key, body);
        crashed = true;
        return new CrashPoint(1, moment).effect(key, () => store.create(key, body));
      },
    };
    await interrupt(sandbox, 80, { store: dying });
    sandbox.simulator.reset();

    const next = await sandbox.run();

    expect(crashed).toBe(true);
    expect(sandbox.simulator.counts.details).toBe(moment === "before" ? 90 : 70);
    expect(await partsOf(sandbox, next)).toEqual(whole);
  });
});

function foreignLease(nowMs: number): string {
  const lease = {
    run_id: "2099-01-01T00-00-00.000Z",
    holder: { token: "another" },
    renewed_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + 60_000).toISOString(),
    use: [],
  };
  return JSON.stringify(lease);
}
