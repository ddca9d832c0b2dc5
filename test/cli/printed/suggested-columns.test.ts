// The options that make columns can be pasted as they are printed, whatever the fields are called.

import { expect, test } from "vitest";
import { customEvent } from "../../job/run/custom-event.ts";
import { shellWords } from "../command-line.ts";
import { printedWorld } from "./printed-world.ts";

test("the columns that discover suggests, and those that a refused run names, work as they are", async () => {
  await using world = await printedWorld();
  world.service.setEvents([customEvent("x", `"it's":"x","$(touch pwned)":1,"two words":2`)]);

  const discovered = await world.command(["discover", ...world.place, ...world.of]);
  const [, suggested = ""] = /without the options:\n([\s\S]*)/.exec(discovered.stdout) ?? [];
  const first = await world.run(...shellWords(suggested));
  const again = await world.command(["discover", ...world.place, ...world.of]);
  const refused = await world.run("--lift", "other=/other");
  const [, named = ""] = /Give (--lift .*) first, in this order/.exec(refused.stderr) ?? [];
  const second = await world.run(...shellWords(named));

  expect(shellWords(suggested)).toHaveLength(6);
  expect(again.stdout).toContain("No other field that at least half of the events have");
  expect([first, refused, second].map(({ exitCode }) => exitCode)).toEqual([0, 2, 0]);
});
