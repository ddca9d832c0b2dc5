// Columns of one's own that are wrong: a run names them, a dry run shows their values, `columns` counts.

import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

const LIFT = ["name=/name", "nokey=/nothing", "sector_name=/Sector_Name", "badtype=/name:BIGINT"].flatMap(
  (column) => ["--lift", column],
);

test("a run says that new names stay, and names each empty column and each type that fits nothing, once", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(5) });
  await writeCredentials(cwd, simulator);
  const run = (...args: readonly string[]) => sync(["run", ...against(simulator), ...args], { cwd });

  const tried = await run("--dry-run", ...LIFT);
  const triedJson = lastJson(await run("--dry-run", "--json", ...LIFT));
  const first = await run(...LIFT);
  const second = await run();
  const corrected = await run(
    ...LIFT.map((text) => text.replace("/nothing", "/scope").replace("BIGINT", "VARCHAR")),
  );
  const listed = lastJson(await sync(["columns", "--json"], { cwd }))["columns"];

  expect(tried.stdout).toMatch(
    /\n {2}name \(\/name\): "[^"]+", "[^"]+", "[^"]+"\n {2}nokey \(\/nothing\): empty in every row\n/,
  );
  expect(triedJson["columns"]).toContainEqual({ name: "nokey", pointer: "/nothing", values: [] });
  const said = first.stderr;
  expect(said).toContain("new columns: name, nokey, sector_name, badtype. A name stays once it is published");
  expect(said.indexOf("new columns")).toBeLessThan(said.indexOf("events are listed"));
  const lacking =
    "the tables have new columns: name, nokey, sector_name, badtype. They are null in older snapshots, and in other accounts until their next run";
  expect(said.indexOf(lacking)).toBeGreaterThan(said.indexOf("events are listed"));
  expect(said).toMatch(/the column nokey \(\/nothing\) is empty in all 5 rows; the events have \/\w+/);
  expect(said).toContain("the column sector_name (/Sector_Name) is empty in all 5 rows; the events have /");
  expect(said).toContain(
    "the column badtype (/name) has 5 values in all 5 rows, and none fits the type BIGINT",
  );
  expect(first.stderr).not.toContain("the column name ");
  expect(second.stderr).not.toContain("is empty in");
  expect(second.stderr).not.toContain("new columns");
  expect(corrected.stderr).not.toContain("new columns");
  expect(corrected.stderr).not.toContain("nokey (/scope) is empty");
  expect(listed).toContainEqual({
    account: "default",
    name: "nokey",
    pointer: "/scope",
    type: "VARCHAR",
    events: 5,
    filled: 5,
    misfits: 0,
  });
});

test("columns counts texts and misfits, and says where there are none", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(4) });
  await writeCredentials(cwd, simulator);

  await sync(["run", ...against(simulator)], { cwd });
  const none = await sync(["columns"], { cwd });
  await sync(["run", ...against(simulator), "--lift", "badtype=/name:BIGINT"], { cwd });
  const table = await sync(["columns"], { cwd });

  expect(none.stdout).toContain("no columns of your own");
  expect(table.stdout.split("\n").slice(0, 3)).toEqual([
    "account  name     pointer  type    events  filled  misfits",
    "───────  ───────  ───────  ──────  ──────  ──────  ───────",
    "default  badtype  /name    BIGINT  4       4       4",
  ]);
  expect(table.stdout).toMatch(
    /\nA column is null in older snapshots, and in an account that has no pointer here/,
  );
});
