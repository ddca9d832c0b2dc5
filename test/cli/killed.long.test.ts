// SIGKILL of a real process: readers see the old snapshot or the new one, and the command line finishes.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { evolve } from "../simulator/evolve.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import type { Simulator } from "../simulator/simulator.ts";
import { laptop, lastJson, start } from "./command-line.ts";
import { readEvents } from "./warehouse-reader.ts";

const PROGRAM = fileURLToPath(new URL("killed-run.ts", import.meta.url));
/** The killed run's ranges hold 20 of its 72 events. What is staged is not fetched again. */
const truth = (simulator: Simulator): ReadonlyMap<string, string> =>
  new Map(
    simulator
      .listed()
      .map(({ uuid }): [string, string] => [uuid, simulator.detailSource(uuid)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

test.each([
  { when: "before the plan", args: ["--at", "plan"], fetches: [72], sees: "old" },
  { when: "after the plan", args: ["--at", "plan", "--moment", "after"], fetches: [72], sees: "old" },
  { when: "in the middle of the second range", args: ["--done", "30"], fetches: [52], sees: "old" },
  {
    when: "before the first part",
    args: ["--at", "part-00000"],
    fetches: [0],
    sees: "old",
  },
  {
    when: "after the first part",
    args: ["--at", "part-00000", "--moment", "after"],
    fetches: [0],
    sees: "old",
  },
  { when: "before the publication", args: ["--at", "publications/"], fetches: [0], sees: "old" },
  {
    when: "after the publication",
    args: ["--at", "publications/", "--moment", "after"],
    fetches: [72],
    sees: "old",
  },
  { when: "after the catalog", args: ["--at", "views.sql", "--moment", "after"], fetches: [72], sees: "new" },
])(
  "a process killed $when leaves the $sees snapshot whole, and the next run finishes",
  async ({ args, fetches, sees }) => {
    await using world = await laptop({ events: makeEvents(70) });
    const { cwd, warehouse, simulator, ask } = world;
    await ask("run");
    const old = await readEvents(warehouse);
    evolve(simulator);

    const credentials = join(cwd, "credentials.json");
    const where = ["--base-url", `${simulator.url}/`, "--credentials", credentials, "--warehouse", warehouse];
    const killed = await start(PROGRAM, [...where, ...args], { cwd }).ended;
    const seen = await readEvents(warehouse);
    simulator.reset();
    const next = await ask("run", "--json");

    expect(killed).toMatchObject({ signal: "SIGKILL", stdout: "" });
    expect(old.size).toBe(70);
    expect(seen).toEqual(sees === "old" ? old : truth(simulator));
    expect(next).toMatchObject({ exitCode: 0 });
    expect(lastJson(next)).toMatchObject({ outcome: "PUBLISHED", events: 72 });
    expect(await readEvents(warehouse)).toEqual(truth(simulator));
    expect(fetches).toContain(simulator.counts.details);
  },
);
