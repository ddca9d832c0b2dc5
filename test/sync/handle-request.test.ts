import { describe, expect, test } from "vitest";
import type { Catalog } from "../../lambdas/job/catalog/catalog.ts";
import { CredentialsNotSetUp } from "../../lambdas/job/credentials/credentials-not-set-up.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import type { Store } from "../../lambdas/job/storage/store.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionWorld } from "./function-world.ts";
import { RUN, SCHEDULED_AT } from "./instants.ts";

describe("a run", () => {
  test("of the only account is published, counted, logged and sent as an event", async () => {
    await using world = await FunctionWorld.start();

    const response = await world.invoke({ scheduledAt: SCHEDULED_AT });

    expect(response).toMatchObject({ outcome: "PUBLISHED", run_id: RUN, publication: "0000000001" });
    expect(world.metrics).toMatchObject([{ account: "uk", values: { Published: 1, Events: 100 } }]);
    expect(world.events).toMatchObject([
      { detailType: "Snapshot Published", detail: { publication: "0000000001" } },
    ]);
    expect(world.log.known).toEqual({ request_id: "request-1", account: "uk", run_id: RUN });
    expect(world.log.text).toContain("ended as PUBLISHED");
  });

  test("holds its lease under a random token only: no other process can tell whether it lives", async () => {
    await using world = await FunctionWorld.start();
    const holders: unknown[] = [];
    const store = interposed(world.store, async () => {
      holders.push(JSON.parse(world.store.text(layout.lease("uk")) ?? "{}").holder);
    });

    await world.invoke({}, { store });

    const [, held] = holders; // the first creation is the lease itself
    expect(held).toEqual({ token: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test("delivered a second time while it is running is logged in, counted and written once", async () => {
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
});

describe("an event that cannot be sent", () => {
  test("leaves the run published, and is counted; the same trigger sends it again", async () => {
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

describe("an unforeseen error", () => {
  const broken: Partial<Store> = {
    read: () => Promise.reject(new RangeError("row of canary@example.test")),
  };

  test("is thrown without its message, counted as a failure and recorded in the run log", async () => {
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
])("a wrong input ends as CONFIG_INVALID, and nothing is done: $says", async ({ event, says }) => {
  await using world = await FunctionWorld.start();

  await expect(world.invoke(event)).rejects.toMatchObject({
    name: "CONFIG_INVALID",
    message: expect.stringContaining(says),
  });

  expect(world.store.keys()).toEqual([]);
  expect(world.metrics).toEqual([]);
});

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

test("a schedule that starts before the secret is filled is skipped: nothing fails, and no alarm changes", async () => {
  await using world = await FunctionWorld.start();
  const credentials = () => ({
    read: () => Promise.reject(new CredentialsNotSetUp("The secret has no value yet. Fill it.")),
  });

  const response = await world.invoke({ scheduledAt: SCHEDULED_AT }, { credentials });

  expect(response).toMatchObject({
    outcome: "SKIPPED",
    reason: "NOT_SET_UP",
    explanation: expect.stringContaining("Fill it"),
  });
  expect(Object.keys(world.metrics[0]?.values ?? {})).toEqual([
    "Published",
    "Skipped",
    "Superseded",
    "DurationSeconds",
  ]);
  expect(world.events).toEqual([]);
  expect(world.simulator.counts.requests).toBe(0);
});

test("a catalog that cannot be refreshed is counted as behind until a start has refreshed it", async () => {
  await using world = await FunctionWorld.start();
  const failing: Catalog = {
    refresh: () => Promise.reject(new SyncError("CATALOG_FAILED", "Glue refused a call.")),
    columns: () => world.catalog.columns(),
  };

  await world.invoke({ scheduledAt: SCHEDULED_AT }, { catalog: failing }).catch(() => undefined);
  await world.invoke({ scheduledAt: SCHEDULED_AT });

  expect(world.metrics.map(({ values }) => [values.CatalogBehind, values.Failed])).toEqual([
    [1, undefined],
    [0, 0],
  ]);
});
