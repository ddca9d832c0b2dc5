import { describe, expect, test } from "vitest";
import { makeEvent, makeEvents } from "../../simulator/simulated-event.ts";
import { acquired } from "../service/rate-limit/rate-limiter-setup.ts";
import { serviceWith } from "./run-defaults.ts";
import { Sandbox } from "./sandbox.ts";
import { SmallWorld } from "./small-world.ts";

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

  test("says how long it takes, once the sizes of bodies are known", async () => {
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

    await world.run({ dryRun: { limit: undefined } }, sized);

    expect(world.log.text).toMatch(/^.*80 events, about \d+ min/m);
  });

  test("with a limit fetches only so many", async () => {
    await using sandbox = await Sandbox.start();

    const { row } = await sandbox.run({ dryRun: { limit: 3 } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", listed: 100, events: 3, added: null, requests: 5 });
  });

  test("says that a run would be held", async () => {
    await using sandbox = await Sandbox.start({ events: [] });

    const { row, explanation } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", reason: "NO_EVENTS" });
    expect(explanation).toContain("It would be held");
    expect(sandbox.store.keys("snapshots/")).toEqual([]);
  });
});
