// Required fields and a limit of growth, as a person sets them.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { customEvent } from "../simulator/simulated-event.ts";
import { against, laptop, lastJson, printedCommand, sync } from "./command-line.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, n) => customEvent(`e${n}`, `"date":null,"n":${n}`));

test.each([
  { where: "options", args: ["--require", "/n", "--require", "/date"], env: {}, file: {} },
  { where: "a variable", args: [], env: { BRAND_REQUIRE: '["/n","/date"]' }, file: {} },
  { where: "the settings file", args: [], env: {}, file: { require: ["/n", "/date"] } },
])("fields that $where require hold a snapshot, and accept publishes it", async ({ args, env, file }) => {
  await using world = await laptop({ events: events(6) });
  const { cwd, simulator, command } = world;
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ ...file, accounts: { default: {} } }));

  const held = await sync(["run", "--json", ...args, ...against(simulator)], { cwd, env });
  const status = await command("status");
  const accepted = await command(...printedCommand(status.stdout, "accept"));

  expect(held.exitCode).toBe(3);
  expect(lastJson(held)).toMatchObject({ outcome: "HELD", reason: "REQUIRED" });
  expect(status.stdout).toContain(
    "6 of 6 events lack a required field (--require; require in AWS): /date in 6.",
  );
  expect(accepted.stdout).toContain("PUBLISHED");
});

test("a limit of growth holds a snapshot that has grown by more", async () => {
  await using world = await laptop({ events: events(6) });
  await world.ask("run");
  world.simulator.setEvents(events(10));

  const held = await world.ask("run", "--max-growth", "66.6");
  const published = await world.ask("run", "--max-growth", "66.7");

  expect([held.exitCode, published.exitCode]).toEqual([3, 0]);
  expect(held.stdout).toContain(
    "10 events are 66.7 % more than the 6 that readers see now; the limit is 66.6 % (--max-growth; maxGrowthPercent in AWS).",
  );
});
