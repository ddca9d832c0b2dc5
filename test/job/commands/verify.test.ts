import { beforeEach, describe, expect, test } from "vitest";
import { acceptOrRollback } from "../../../lambdas/job/commands/decisions.ts";
import {
  type SampledEvent,
  sampleEvents,
  type Verified,
  verify,
} from "../../../lambdas/job/commands/verify.ts";
import type { Manifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../lambdas/job/snapshot/files/parts.ts";
import { rowLine } from "../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { seededRandom } from "../../simulator/seeded-random.ts";
import { customEvent, makeEvents } from "../../simulator/simulated-event.ts";
import { livingLease } from "../run/lease/lease-world.ts";
import { ACCOUNT, Sandbox } from "../run/sandbox.ts";
import { aManifest } from "../snapshot/files/manifests.ts";
import { streamOf } from "../snapshot/files/streams.ts";
import { MemoryStore } from "../storage/memory-store.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;

/** A warehouse with a head of these events. */
async function published(...start: Parameters<typeof Sandbox.start>): Promise<Sandbox> {
  const sandbox = await Sandbox.start(...start);
  const { row } = await sandbox.run();
  expect(row.outcome).toBe("PUBLISHED");
  return sandbox;
}

async function verified(sandbox: Sandbox, size: number): Promise<Verified> {
  const found = await verify(sandbox.ports(), sandbox.settings, size);
  if ("outcome" in found) throw new Error(found.explanation);
  return found;
}

const runLog = (sandbox: Sandbox): readonly Record<string, unknown>[] =>
  sandbox.store
    .keys(`run-log/${ACCOUNT}/`)
    .map((key) => JSON.parse(sandbox.store.text(key) ?? ""))
    .filter(({ trigger }) => trigger === "verify");

describe("verify", () => {
  test("tells what is the same, changed, gone, forbidden and too large, and writes one line of the run log", async () => {
    const events = ["a", "b", "c", "d", "e", "f"].map((name) => customEvent(name, `"n":1,"m":{"x":1,"y":2}`));
    await using sandbox = await published({ events });
    const [same, reordered, changed, missing, forbidden, large] = events;
    if (!same || !reordered || !changed || !missing || !forbidden || !large)
      throw new Error("too few events");
    const { simulator } = sandbox;
    simulator.change(reordered.uuid, { source: `{"m":{"y":2,"x":1},"n":1,"uuid":"${reordered.uuid}"}` });
    simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}","n":1.0,"m":{"x":1,"y":2}}` });
    simulator.vanish(missing.uuid, 410);
    simulator.restrict(forbidden.uuid);
    simulator.change(large.uuid, { source: `{"uuid":"${large.uuid}","n":"${"x".repeat(4 * 1024 * 1024)}"}` });
    const before = sandbox.store.keys();
    simulator.reset();

    const found = await verified(sandbox, 100);

    expect(found).toMatchObject({
      sample: 6,
      uuids: {
        changed: [changed.uuid],
        gone: [missing.uuid],
        forbidden: [forbidden.uuid],
        oversize: [large.uuid],
        too_deep: [],
        unreadable: [],
      },
    });
    expect(found.uuids.same.toSorted()).toEqual([same.uuid, reordered.uuid].toSorted());
    const [row, ...others] = runLog(sandbox);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      trigger: "verify",
      outcome: "DRY_RUN",
      snapshot_id: found.head.snapshot_id,
      attempt: 1,
      listed: null,
      events: 3,
      added: null,
      changed: 1,
      removed: null,
      gone: 1,
      forbidden: 1,
      rejected: 1,
      requests: simulator.counts.requests,
      logins: 1,
      reason: null,
      error_code: null,
    });
    const written = sandbox.store.keys().filter((key) => !before.includes(key));
    expect(written).toEqual([`run-log/${ACCOUNT}/${row?.["run_id"]}-1.ndjson`]);
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 6, total: 6 });
  });

  test("asks for as many different events as the sample has, and never for the list", async () => {
    await using sandbox = await published({ events: makeEvents(50) });
    sandbox.simulator.reset();

    const found = await verified(sandbox, 10);

    expect(found.sample).toBe(10);
    expect(found.uuids.same).toHaveLength(10);
    expect(sandbox.simulator.counts.detailsByUuid.size).toBe(10);
    expect(sandbox.simulator.counts).toMatchObject({ details: 10, requests: 11 });
  });

  test("draws another sample each time", async () => {
    await using sandbox = await published({ events: makeEvents(100) });
    const drawn = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      sandbox.simulator.reset();
      await verified(sandbox, 5);
      drawn.add([...sandbox.simulator.counts.detailsByUuid.keys()].sort().join());
    }

    expect(drawn.size).toBe(3);
  });

  test("of a head without events asks for nothing", async () => {
    await using sandbox = await published({ events: makeEvents(1) }, { maxDropPercent: 100 });
    sandbox.simulator.setEvents([]);
    const { row } = await sandbox.run();
    const accept = { action: "accept", snapshotId: row.snapshot_id ?? "", force: false } as const;
    await acceptOrRollback(sandbox.ports(), accept);
    sandbox.simulator.reset();

    const found = await verified(sandbox, 10);

    expect(found).toMatchObject({ sample: 0, uuids: { same: [], changed: [], gone: [] } });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("without a publication says so, and leaves nothing behind", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });

    const refused = verify(sandbox.ports(), sandbox.settings, 10);

    await expect(refused).rejects.toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: `Nothing is published for the account ${ACCOUNT} yet, so there is nothing to verify. Make a snapshot with run first.`,
    });
    expect(sandbox.store.keys()).toEqual([]);
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("is skipped where a run works on the account, with a line that says so", async () => {
    await using sandbox = await published({ events: makeEvents(3) });
    sandbox.store.put(LEASE, livingLease(sandbox.clock.now()));
    sandbox.simulator.reset();

    const found = await verify(sandbox.ports(), sandbox.settings, 10);

    expect(found).toMatchObject({
      outcome: "SKIPPED",
      reason: "LEASE_TAKEN",
      explanation: expect.stringMatching(/^The run run-1 works on this account; /),
    });
    expect(sandbox.simulator.counts.requests).toBe(0);
    expect(runLog(sandbox)).toMatchObject([{ outcome: "SKIPPED", reason: "LEASE_TAKEN" }]);
  });

  test("sends nothing for a damaged head, and says how to publish over it", async () => {
    await using sandbox = await published({ events: makeEvents(3) });
    const [part] = sandbox.store.keys(`snapshots/${ACCOUNT}/`).filter((key) => key.endsWith(".gz"));
    sandbox.store.put(part ?? "", "damaged");
    sandbox.simulator.reset();

    const failed = verify(sandbox.ports(), sandbox.settings, 3);

    await expect(failed).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("--over-damaged"),
    });
    expect(sandbox.simulator.counts.details).toBe(0);
    expect(runLog(sandbox)).toMatchObject([{ outcome: "FAILED", error_code: "STORE_CORRUPT" }]);
  });

  test("fails as a run does where the login is refused, and leaves no outcome of a run", async () => {
    await using sandbox = await published({ events: makeEvents(3) });
    sandbox.credentials = { method: "session", email: "a@example.test", password: "wrong" };
    const outcomes = sandbox.store.keys("runs/");

    const failed = verify(sandbox.ports(), sandbox.settings, 3);

    await expect(failed).rejects.toMatchObject({ code: "LOGIN_REFUSED" });
    expect(runLog(sandbox)).toMatchObject([{ outcome: "FAILED", error_code: "LOGIN_REFUSED" }]);
    expect(sandbox.store.keys("runs/")).toEqual(outcomes);
    expect(sandbox.store.text(LEASE)).toContain('"run_id":null');
  });

  test("refuses at once a sample that takes longer than the time limit allows", async () => {
    await using sandbox = await published({ events: makeEvents(30) });
    sandbox.settings = { ...sandbox.settings, requestsPerMinute: 10 };
    sandbox.simulator.reset();

    const refused = verify(sandbox.ports({ timeLeftMs: () => 90_000 }), sandbox.settings, 30);

    await expect(refused).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(
        /^A sample of 30 events takes about \d min within the budget, and this invocation has 60 s left\. Take a smaller sample/,
      ),
    });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("ends in time where the service is slower than that", async () => {
    await using sandbox = await published({ events: makeEvents(30) }, { concurrency: 1 });
    let leftMs = 60_000;
    const onProgress = (): void => {
      leftMs -= 10_000;
    };

    const failed = verify(sandbox.ports({ timeLeftMs: () => leftMs, onProgress }), sandbox.settings, 30);

    await expect(failed).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringMatching(/^The time limit was reached after 3 of 30 events\. /),
    });
  });
});

const ID = "2026-11-21T06-00-00.000Z";
const part = (index: number): string => layout("uk").part(ID, index);

const line = (uuid: string, listing: string): string =>
  rowLine({ uuid, event_date: null, scope: null, event: `{"uuid":"${uuid}"}`, listing });

let store: MemoryStore;
let manifest: Manifest;

/** Five events in three parts. */
beforeEach(async () => {
  store = new MemoryStore();
  const lines = ["a", "b", "c", "d", "e"].map((uuid) => line(uuid, `{"uuid":"${uuid}"}`));
  const maxBytes = 2 * ((lines[0]?.length ?? 0) + 1);
  const parts = await writeParts({ store, key: part, lines: streamOf(...lines), maxBytes });
  manifest = aManifest({ snapshot_id: ID, parts: [...parts], counts: { ...aManifest().counts, events: 5 } });
});

/** A sample, part by part. */
const sampled = (size: number, next: () => number, of = manifest, proceed: () => void = () => undefined) =>
  sampleEvents(accountStore(store, "uk"), of, { size, random: { next }, proceed });

const sample = async (size: number, next = seededRandom(1), of = manifest) =>
  (await Array.fromAsync(sampled(size, next, of))).flat();

const uuids = (events: readonly SampledEvent[]): string => events.map(({ uuid }) => uuid).join("");

describe("a sample", () => {
  test("is every pair of five events equally often, over the parts", async () => {
    const next = seededRandom(7);
    const counts = new Map<string, number>();
    for (let draw = 0; draw < 2_000; draw += 1) {
      const pair = uuids(await sample(2, next));
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }

    expect([...counts.keys()].sort()).toEqual(["ab", "ac", "ad", "ae", "bc", "bd", "be", "cd", "ce", "de"]);
    // 200 each are expected, with a standard deviation of 13.
    for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(55);
  });

  test.each([5, 6, 10_000])("of %i is all five", async (size) => {
    expect(uuids(await sample(size))).toBe("abcde");
  });

  test("of nothing is empty", async () => {
    const empty = aManifest({ parts: [], counts: { ...aManifest().counts, events: 0 } });

    expect(await sample(3, seededRandom(1), empty)).toEqual([]);
  });

  test("has nothing of a part that is damaged, and fails", async () => {
    store.put(part(1), store.text(part(0)) ?? "");
    const found = sampled(5, () => 0);

    const first = await found.next();
    const second = found.next();

    expect(uuids(first.value ?? [])).toBe("ab");
    await expect(second).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(part(1)),
    });
  });

  test("stops where it is told to, in the middle of a part", async () => {
    let rows = 0;
    const proceed = (): void => {
      rows += 1;
      if (rows === 2) throw new Error("stop");
    };

    const found = sampled(5, () => 0, manifest, proceed);

    await expect(found.next()).rejects.toThrow("stop");
  });

  test("asks for an event in the spelling of the list", async () => {
    const lines = [
      line("ab", '{"uuid":"AB"}'),
      line("cd", '{"name":"keyed by uuid"}'),
      line("ef", '{"uuid":null}'),
    ];
    store = new MemoryStore();
    const parts = await writeParts({
      store,
      key: part,
      lines: streamOf(...lines),
    });
    const listed = aManifest({
      snapshot_id: ID,
      parts: [...parts],
      counts: { ...aManifest().counts, events: 3 },
    });

    const events = await sample(3, seededRandom(1), listed);

    expect(events.map(({ requestAs }) => requestAs)).toEqual(["AB", "cd", "ef"]);
  });
});
