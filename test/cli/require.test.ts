// Required fields and a limit of growth, as a person sets them.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { customEvent } from "../job/run/custom-event.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, printedCommand, sync, writeCredentials } from "./command-line.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, n) => customEvent(`e${n}`, `"date":null,"n":${n}`));

test.each([
  { where: "options", args: ["--require", "/n", "--require", "/date"], env: {}, file: {} },
  { where: "a variable", args: [], env: { BRAND_REQUIRE: '["/n","/date"]' }, file: {} },
  { where: "the settings file", args: [], env: {}, file: { require: ["/n", "/date"] } },
])("fields that $where require hold a snapshot, and accept publishes it", async ({ args, env, file }) => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: events(6) });
  await writeCredentials(cwd, simulator);
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ ...file, accounts: { default: {} } }));

  const held = await sync(["run", "--json", ...args, ...against(simulator)], { cwd, env });
  const status = await sync(["status"], { cwd });
  const accepted = await sync(printedCommand(status.stdout, "accept"), { cwd });

  expect(held.exitCode).toBe(3);
  expect(lastJson(held)).toMatchObject({ outcome: "HELD", reason: "REQUIRED" });
  expect(status.stdout).toContain(
    "6 of 6 events lack a required field (--require; require in AWS): /date in 6.",
  );
  expect(accepted.stdout).toContain("PUBLISHED");
});

test("a limit of growth holds a snapshot that has grown by more", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: events(6) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...against(simulator)], { cwd });
  simulator.setEvents(events(10));

  const held = await sync(["run", "--max-growth", "66.6", ...against(simulator)], { cwd });
  const published = await sync(["run", "--max-growth", "66.7", ...against(simulator)], { cwd });

  expect([held.exitCode, published.exitCode]).toEqual([3, 0]);
  expect(held.stdout).toContain(
    "10 events are 66.7 % more than the 6 that readers see now; the limit is 66.6 % (--max-growth; maxGrowthPercent in AWS).",
  );
});

test.each([
  {
    args: ["--require", "date"],
    says: '--require: expected a JSON Pointer to a part of the detail, such as /date, and got "date"',
  },
  {
    args: ["--require", ""],
    says: '--require: expected a JSON Pointer to a part of the detail, such as /date, and got ""',
  },
  {
    args: [],
    env: { BRAND_REQUIRE: "/date" },
    says: 'BRAND_REQUIRE: expected a JSON array of JSON Pointers, such as ["/date"], and got "/date"',
  },
  {
    args: ["--max-growth", "much"],
    says: '--max-growth: expected a percentage from 0 to 1000000, and got "much"',
  },
])("$args $env.BRAND_REQUIRE exits with 2: $says", async ({ args, env = {}, says }) => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["run", "--base-url", "http://127.0.0.1:1", ...args], { cwd, env });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(says);
});
