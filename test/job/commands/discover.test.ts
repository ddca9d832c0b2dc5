import { describe, expect, test } from "vitest";
import { type Discovery, discover } from "../../../lambdas/job/commands/discover.ts";
import { customEvent, makeEvents } from "../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../run/sandbox.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;

describe("discover", () => {
  test("reads a sample spread over the whole list, and writes nothing but the lease", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });

    const found = await discovered(sandbox, 10);

    expect(found).toMatchObject({ listed: 100, events: 10, isComplete: true });
    const read = [...sandbox.simulator.counts.detailsByUuid.keys()].sort();
    const sorted = [...sandbox.truth().keys()];
    expect(read).toEqual(sorted.filter((_, index) => index % 10 === 0));
    expect(sandbox.store.keys()).toEqual([LEASE]);
    expect(sandbox.progress.at(-1)).toMatchObject({ done: 10, total: 10 });
  });

  test("reads all where there are fewer, and finds fields and columns", async () => {
    const events = [customEvent("x", '"name":"x","tags":[1]'), customEvent("y", '"name":null')];
    await using sandbox = await Sandbox.start({ events });

    const found = await discovered(sandbox, 50);

    expect(found.fields).toEqual([
      { pointer: "/name", count: 2, types: { string: 1, null: 1 } },
      { pointer: "/tags", count: 1, types: { array: 1 } },
      { pointer: "/tags/*", count: 1, types: { number: 1 } },
      { pointer: "/uuid", count: 2, types: { string: 2 } },
    ]);
    expect(found.suggestions).toEqual([{ name: "name", pointer: "/name" }]);
  });

  test("counts the events of which an object has a key twice", async () => {
    const events = [
      customEvent("x", '"name":"x","name":"y"'),
      customEvent("y", '"a":[{"b":1,"\\u0062":2}]'),
      customEvent("z", '"a":{"b":1},"b":"a","c":["a","a"]'),
    ];
    await using sandbox = await Sandbox.start({ events });

    expect(await discovered(sandbox, 50)).toMatchObject({ events: 3, duplicateKeys: 2 });
  });

  test("leaves out events without details, and fails when none has any", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const [one, two, three] = sandbox.simulator.listed();
    if (!one || !two || !three) throw new Error("too few events");
    sandbox.simulator.vanish(one.uuid);
    sandbox.simulator.restrict(two.uuid);

    const found = await discovered(sandbox, 50);
    sandbox.simulator.restrict(three.uuid);
    const failed = discover(sandbox.ports(), sandbox.settings, 50);

    expect(found).toMatchObject({ listed: 3, events: 1, leftOut: { gone: 1, forbidden: 1 } });
    await expect(failed).rejects.toMatchObject({
      code: "NOT_ENTITLED",
      message: expect.stringContaining("may not read"),
    });
  });

  test("that finds no details, as behind a gateway, says so", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    for (const { uuid } of sandbox.simulator.listed()) sandbox.simulator.vanish(uuid);

    await expect(discover(sandbox.ports(), sandbox.settings, 50)).rejects.toMatchObject({
      message: expect.stringContaining("all 3 listed events that were tried were answered with 404 or 410"),
    });
  });

  test("of no events finds nothing", async () => {
    await using sandbox = await Sandbox.start({ events: [] });

    expect(await discover(sandbox.ports(), sandbox.settings, 50)).toMatchObject({
      listed: 0,
      events: 0,
      fields: [],
      suggestions: [],
    });
  });

  test("works once where it is started four times at once: the others send nothing", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20), latencyMs: 500 });

    const all = await Promise.all([1, 2, 3, 4].map(() => discover(sandbox.ports(), sandbox.settings, 10)));

    const skipped = all.filter((found) => "outcome" in found);
    expect(skipped).toEqual(
      Array(3).fill({
        outcome: "SKIPPED",
        reason: "LEASE_TAKEN",
        explanation: expect.stringMatching(/^The command discover works on this account; /),
        next: ["Start again when it has ended."],
      }),
    );
    expect(sandbox.simulator.counts).toMatchObject({ logins: 1, details: 10 });
  });

  test("refuses a sample of more than 500 events before it does anything", async () => {
    await using sandbox = await Sandbox.start();

    const refused = discover(sandbox.ports(), sandbox.settings, 501);

    await expect(refused).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("at most 500 events"),
    });
    expect(sandbox.simulator.counts.requests).toBe(0);
    expect(sandbox.store.keys()).toEqual([]);
  });
});

async function discovered(sandbox: Sandbox, limit: number): Promise<Discovery> {
  const found = await discover(sandbox.ports(), sandbox.settings, limit);
  if ("outcome" in found) throw new Error(found.explanation);
  return found;
}
