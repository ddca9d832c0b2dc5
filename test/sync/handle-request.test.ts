import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import type { Store } from "../../lambdas/job/storage/store.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { livingLease } from "../job/run/living-lease.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionWorld } from "./function-world.ts";

/** Two days of the schedule, so recent that what they leave behind is not taken away. */
const [SCHEDULED_AT, NEXT_DAY] = [2, 1].map((days) => new Date(Date.now() - days * 86_400_000).toISOString());
const RUN = (SCHEDULED_AT ?? "").replaceAll(":", "-");

describe("a run", () => {
  test("of the only account is published, counted, announced and logged", async () => {
    await using world = await FunctionWorld.start();

    const answer = await world.invoke({ scheduledAt: SCHEDULED_AT });

    expect(answer).toMatchObject({ outcome: "PUBLISHED", run_id: RUN, publication: "0000000001" });
    expect(world.metrics).toMatchObject([{ account: "uk", values: { Published: 1, Events: 100 } }]);
    expect(world.events).toMatchObject([
      { detailType: "Snapshot Published", detail: { publication: "0000000001" } },
    ]);
    expect(world.log.known).toEqual({ request_id: "request-1", account: "uk", run_id: RUN });
    expect(world.log.text).toContain("ended as PUBLISHED");
  });

  test("holds its lease under a random token alone: no other process can tell whether it lives", async () => {
    await using world = await FunctionWorld.start();
    const holders: unknown[] = [];
    const store = interposed(world.store, async () => {
      holders.push(JSON.parse(world.store.text(layout.lease("uk")) ?? "{}").holder);
    });

    await world.invoke({}, { store });

    const [, held] = holders; // the first creation is the lease itself
    expect(held).toEqual({ token: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test("started by hand goes on with the unfinished one, and logs under its id", async () => {
    await using world = await FunctionWorld.start({ events: makeEvents(5) });
    const broken = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    const failure = await world.invoke({}, { store: broken }).catch((error: unknown) => error);
    const unfinished = String(world.log.known["run_id"]);
    world.simulator.reset();

    const answer = await world.invoke({});

    expect(failure).toMatchObject({ name: "STORE_FAILED" });
    expect(answer).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished });
    expect(world.log.known["run_id"]).toBe(unfinished);
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("begins anew when it is told to", async () => {
    await using world = await FunctionWorld.start({ events: makeEvents(5) });
    const broken = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    await world.invoke({}, { store: broken }).catch(() => undefined);
    world.simulator.reset();

    await world.invoke({ fresh: true });

    expect(world.simulator.counts).toMatchObject({ logins: 1, details: 5 });
  });

  test("delivered a second time while it works is logged in, counted and written once", async () => {
    await using world = await FunctionWorld.start({ events: makeEvents(5) });
    let first: object | undefined;
    // The first delivery does all of its work between the second one's first look and its lease.
    const store = interposed(world.store, async (key) => {
      if (first === undefined && key === layout.lease("uk")) {
        first = {};
        first = await world.invoke({ scheduledAt: SCHEDULED_AT });
      }
    });

    const second = await world.invoke({ scheduledAt: SCHEDULED_AT }, { store });

    expect(second).toMatchObject({ ...first, note: expect.stringContaining("finished before") });
    expect(world.simulator.counts.logins).toBe(1);
    expect(world.metrics.map(({ values }) => values)).toEqual([
      expect.objectContaining({ Published: 1, Events: 5 }),
      {},
    ]);
    expect(world.store.keys("run-log/")).toHaveLength(1);
  });

  test("that failed throws its code, with account and run, each time, and is counted once", async () => {
    await using world = await FunctionWorld.start({ account: { disabled: true } });

    const failures = [
      await world.invoke({ scheduledAt: SCHEDULED_AT }).catch((error: unknown) => error),
      await world.invoke({ scheduledAt: SCHEDULED_AT }).catch((error: unknown) => error),
    ];

    for (const failure of failures) {
      expect(failure).toMatchObject({
        name: "ACCOUNT_DISABLED",
        message: expect.stringContaining(`(account uk, run ${RUN})`),
      });
    }
    expect(world.metrics.map(({ values }) => values)).toMatchObject([{ Failed: 1, LoginRefused: 1 }, {}]);
    expect(world.events.map(({ detailType }) => detailType)).toEqual(["Run Failed", "Run Failed"]);
    expect(world.simulator.counts.logins).toBe(1);
  });

  test("after a refused login is skipped with the reason, raises no second alarm and is no success", async () => {
    await using world = await FunctionWorld.start({ account: { disabled: true } });
    await world.invoke({ scheduledAt: SCHEDULED_AT }).catch(() => undefined);

    const answer = await world.invoke({ scheduledAt: NEXT_DAY });

    expect(answer).toMatchObject({
      outcome: "SKIPPED",
      reason: "LOGIN_REFUSED",
      explanation: expect.stringContaining("start a check or a run by hand"),
    });
    const [, skipped] = world.metrics;
    expect(skipped?.values).toMatchObject({ Published: 0, Failed: 0, Skipped: 1, LoginRefused: 0 });
    expect(world.events.map(({ detailType }) => detailType)).toEqual(["Run Failed"]);
    expect(world.simulator.counts.logins).toBe(1);
  });

  test("of the schedule works again after a check that succeeded", async () => {
    await using world = await FunctionWorld.start({ account: { disabled: true } });
    await world.invoke({ scheduledAt: SCHEDULED_AT }).catch(() => undefined);
    world.simulator.configure({ account: { disabled: false } });

    await world.invoke({ action: "check" });
    const answer = await world.invoke({ scheduledAt: NEXT_DAY });

    expect(answer).toMatchObject({ outcome: "PUBLISHED" });
  });

  test("stops before it begins a unit that the time left does not cover", async () => {
    await using world = await FunctionWorld.start();
    world.timeLeft = () => 29_000;

    await expect(world.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(world.simulator.counts.details).toBe(0);
    expect(JSON.parse(world.store.text(layout.lease("uk")) ?? "")).toMatchObject({ run_id: null });
  });

  test("is aborted in the middle of a unit when the end comes, and frees the lease", async () => {
    await using world = await FunctionWorld.start({
      onRequest: async ({ endpoint }) => {
        if (endpoint === "detail") await new Promise((resolve) => setTimeout(resolve, 200));
      },
    });
    let asked = 0;
    world.timeLeft = () => (++asked === 1 ? 10_100 : 40_000); // a tenth of a second, and then time for every unit

    await expect(world.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(JSON.parse(world.store.text(layout.lease("uk")) ?? "")).toMatchObject({ run_id: null });
  });
});

describe("an event that cannot be sent", () => {
  test("leaves the run published and is counted; the same trigger sends it again", async () => {
    await using world = await FunctionWorld.start();
    const { sendEvent } = world;
    world.sendEvent = () => Promise.reject(new Error("no bus"));

    const first = await world.invoke({ scheduledAt: SCHEDULED_AT });
    world.sendEvent = sendEvent;
    const again = await world.invoke({ scheduledAt: SCHEDULED_AT });

    expect(first).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(world.metrics.map(({ values }) => values)).toMatchObject([
      { Published: 1 },
      { EventNotSent: 1 },
      {},
    ]);
    expect(again).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(world.events).toMatchObject([{ detail: { publication: "0000000001" } }]);
  });

  test("does not hide why a run failed", async () => {
    await using world = await FunctionWorld.start({ account: { disabled: true } });
    world.sendEvent = () => Promise.reject(new Error("no bus"));

    await expect(world.invoke({})).rejects.toMatchObject({ name: "ACCOUNT_DISABLED" });
  });
});

describe("a person's decision", () => {
  test("to accept a held snapshot publishes it under a number of its own", async () => {
    await using world = await FunctionWorld.start({ events: [] });
    const held = await world.invoke({ scheduledAt: SCHEDULED_AT });

    const accepted = await world.invoke({ action: "accept", snapshotId: RUN });

    expect(held).toMatchObject({ outcome: "HELD", reason: "NO_EVENTS" });
    expect(accepted).toMatchObject({ outcome: "PUBLISHED", snapshot_id: RUN, publication: "0000000001" });
    expect(world.events.map(({ detailType }) => detailType)).toEqual(["Snapshot Held", "Snapshot Published"]);
  });

  test("to roll back pins the older snapshot, unless told not to", async () => {
    await using world = await FunctionWorld.start();
    await world.invoke({ scheduledAt: SCHEDULED_AT });
    await world.invoke({ scheduledAt: NEXT_DAY });

    await world.invoke({ action: "rollback", snapshotId: RUN });
    const pinned = world.catalog.head("uk");
    await world.invoke({ action: "rollback", snapshotId: RUN, pin: false });

    expect(pinned).toMatchObject({ action: "rollback", snapshot_id: RUN, pinned: true });
    expect(world.catalog.head("uk")).toMatchObject({ publication: "0000000004", pinned: false });
  });

  test("about a snapshot that is not there fails, and nobody is woken up", async () => {
    await using world = await FunctionWorld.start();

    await expect(world.invoke({ action: "accept", snapshotId: RUN })).rejects.toMatchObject({
      name: "SNAPSHOT_NOT_FOUND",
    });

    expect(world.events).toEqual([]);
    expect(world.metrics.map(({ values }) => values.Failed)).toEqual([0]);
  });
});

describe("a question", () => {
  test("what works is answered with what does not, and its remedy", async () => {
    await using world = await FunctionWorld.start();
    world.credentials = { method: "session", email: "a@example.test", password: "wrong" };

    const answer = await world.invoke({ action: "check" });

    expect(answer).toMatchObject({ account: "uk", ok: false });
    expect(answer).toMatchObject({
      checks: expect.arrayContaining([
        { name: "login", ok: false, code: "LOGIN_REFUSED", remedy: expect.any(String) },
        { name: "store", ok: true, code: null, remedy: null },
      ]),
    });
  });

  test("where a run works on the account, check and discover answer that it does, and send nothing", async () => {
    await using world = await FunctionWorld.start();
    world.store.put("accounts/uk/lease.json", livingLease(world.clock.now()));

    const check = await world.invoke({ action: "check" });
    const discover = await world.invoke({ action: "discover" });

    const explanation = expect.stringMatching(/^The run run-1 works on this account; /);
    expect(check).toMatchObject({
      account: "uk",
      ok: false,
      checks: [
        { name: "credentials", ok: true },
        { name: "lease", ok: false, code: "LEASE_TAKEN", remedy: explanation },
        { name: "store", ok: true },
        { name: "catalog", ok: true },
        { name: "snapshot", ok: true },
      ],
    });
    expect(discover).toEqual({ account: "uk", outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation });
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("of more events than a sample has is refused", async () => {
    await using world = await FunctionWorld.start();

    const refused = world.invoke({ action: "discover", limit: 501 });

    await expect(refused).rejects.toMatchObject({
      name: "CONFIG_INVALID",
      message: expect.stringContaining("at most 500 events"),
    });
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("which fields there are is answered from a sample", async () => {
    await using world = await FunctionWorld.start();

    const answer = await world.invoke({ action: "discover", limit: 3 });

    expect(answer).toMatchObject({ account: "uk", listed: 100, events: 3 });
    expect(world.simulator.counts.details).toBe(3);
  });

  test("how things are is answered without a request", async () => {
    await using world = await FunctionWorld.start();

    const answer = await world.invoke({ action: "status" });

    expect(answer).toEqual({ account: "uk", head: null, lease: null, held: [], runs: [] });
    expect(world.simulator.counts.requests).toBe(0);
  });
});

describe("what nobody foresaw", () => {
  const broken: Partial<Store> = {
    read: () => Promise.reject(new RangeError("row of canary@example.test")),
  };

  test("is thrown without its words, counted as a failure and in the log of runs", async () => {
    await using world = await FunctionWorld.start();
    const store = { ...interposed(world.store, async () => undefined), ...broken };

    const failure = await world
      .invoke({ scheduledAt: SCHEDULED_AT }, { store })
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({
      name: "UNEXPECTED",
      message: expect.stringContaining("Unexpected error (RangeError)"),
    });
    expect(failure).not.toMatchObject({ message: expect.stringContaining("canary") });
    expect(world.metrics).toEqual([{ account: "uk", values: { Failed: 1 } }]);
    expect(world.log.text).not.toContain("canary");
    expect(world.store.keys("run-log/")).toHaveLength(1);
  });
});

test.each([
  { event: { dryrun: true }, says: "dryrun: not known" },
  { event: { account: "fr" }, says: '"fr"' },
])(
  "an input that is not usable ends as CONFIG_INVALID before anything begins: $says",
  async ({ event, says }) => {
    await using world = await FunctionWorld.start();

    await expect(world.invoke(event)).rejects.toMatchObject({
      name: "CONFIG_INVALID",
      message: expect.stringContaining(says),
    });

    expect(world.store.keys()).toEqual([]);
    expect(world.metrics).toEqual([]);
  },
);

describe("the placeholder as the address of the service", () => {
  test.each(["run", "check", "discover"])(
    "ends %s as CONFIG_INVALID before anything begins",
    async (action) => {
      await using world = await FunctionWorld.start({}, { baseUrl: "https://api.example.com" });

      await expect(world.invoke({ action })).rejects.toMatchObject({
        name: "CONFIG_INVALID",
        message: expect.stringContaining("Set eventSync.baseUrl in cdk.json"),
      });

      expect(world.store.keys()).toEqual([]);
    },
  );

  test("does not stop status, which sends no request", async () => {
    await using world = await FunctionWorld.start({}, { baseUrl: "https://api.example.com" });

    expect(await world.invoke({ action: "status" })).toMatchObject({ account: "uk", head: null });
  });
});
