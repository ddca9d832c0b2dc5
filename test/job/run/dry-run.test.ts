import { describe, expect, test } from "vitest";
import { makeEvent } from "../../simulator/simulated-event.ts";
import { Sandbox } from "./sandbox.ts";

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

  test("says that a run would be held", async () => {
    await using sandbox = await Sandbox.start({ events: [] });

    const { row, explanation } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", reason: "NO_EVENTS" });
    expect(explanation).toContain("It would be held");
    expect(sandbox.store.keys("snapshots/")).toEqual([]);
  });
});
