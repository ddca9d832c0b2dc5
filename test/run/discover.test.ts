import { describe, expect, test } from "vitest";
import { discover } from "../../lambdas/run/discover.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { customEvent } from "./custom-event.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";

describe("discover", () => {
  test("reads a sample from all over the list, and writes nothing", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });

    const found = await discover(sandbox.host(), sandbox.settings, 10);

    expect(found).toMatchObject({ listed: 100, events: 10, isComplete: true });
    const read = [...sandbox.simulator.counts.detailsByUuid.keys()].sort();
    const sorted = [...sandbox.truth().keys()];
    expect(read).toEqual(sorted.filter((_, index) => index % 10 === 0));
    expect(sandbox.store.keys()).toEqual([]);
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 10, total: 10 });
  });

  test("reads all where there are fewer, and finds fields and columns", async () => {
    const events = [customEvent("x", '"name":"x","tags":[1]'), customEvent("y", '"name":null')];
    await using sandbox = await Sandbox.start({ events });

    const found = await discover(sandbox.host(), sandbox.settings, 50);

    expect(found.fields).toEqual([
      { pointer: "/name", count: 2, types: { string: 1, null: 1 } },
      { pointer: "/tags", count: 1, types: { array: 1 } },
      { pointer: "/tags/*", count: 1, types: { number: 1 } },
      { pointer: "/uuid", count: 2, types: { string: 2 } },
    ]);
    expect(found.suggestions).toEqual([{ name: "name", pointer: "/name" }]);
  });

  test("leaves out events without details, and fails when none has any", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const [one, two, three] = sandbox.simulator.listed();
    if (!one || !two || !three) throw new Error("too few events");
    sandbox.simulator.vanish(one.uuid);
    sandbox.simulator.restrict(two.uuid);

    const found = await discover(sandbox.host(), sandbox.settings, 50);
    sandbox.simulator.restrict(three.uuid);
    const failed = discover(sandbox.host(), sandbox.settings, 50);

    expect(found).toMatchObject({ listed: 3, events: 1 });
    await expect(failed).rejects.toMatchObject({ code: "NOT_ENTITLED" });
  });

  test("of no events finds nothing", async () => {
    await using sandbox = await Sandbox.start({ events: [] });

    expect(await discover(sandbox.host(), sandbox.settings, 50)).toMatchObject({
      listed: 0,
      events: 0,
      fields: [],
      suggestions: [],
    });
  });

  test("does not exceed the limit that the last run has used up", async () => {
    const windowMs = 30_000;
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30), limits: { requestsPerWindow: 40, windowMs } },
      { requestsPerMinute: 40, windowMs },
    );
    await sandbox.run();

    const found = await discover(sandbox.host(), sandbox.settings, 20);

    expect(found.events).toBe(20);
    const { statuses, fullestWindow } = sandbox.simulator.counts;
    expect(statuses.get(429)).toBeUndefined();
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test("takes no lease: it works beside a run, and leaves the lease as it is", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(5) });
    await sandbox.run();
    const lease = sandbox.store.text(`accounts/${ACCOUNT}/lease.json`);

    await discover(sandbox.host(), sandbox.settings, 5);

    expect(sandbox.store.text(`accounts/${ACCOUNT}/lease.json`)).toBe(lease);
  });
});
