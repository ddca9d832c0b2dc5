import { describe, expect, test } from "vitest";
import { acceptOrRollback } from "../../../../lambdas/job/commands/accept-or-rollback.ts";
import { type Verified, verify } from "../../../../lambdas/job/commands/verify.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { customEvent } from "../../run/custom-event.ts";
import { livingLease } from "../../run/living-lease.ts";
import { ACCOUNT, Sandbox } from "../../run/sandbox.ts";

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
