import { afterEach, beforeEach, expect, test } from "vitest";
import { evolve } from "./evolve.ts";
import { makeEvents } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await Simulator.start();
});
afterEach(() => simulator.stop());

const state = (): ReadonlyMap<string, string> =>
  new Map(simulator.listed().map(({ uuid, source }) => [uuid, source]));

test("adds 5 events, changes 8 and archives 3", () => {
  const before = state();

  const counts = evolve(simulator);

  const after = state();
  expect(counts).toEqual({ added: 5, changed: 8, archived: 3 });
  expect([...after.keys()].filter((uuid) => !before.has(uuid))).toHaveLength(5);
  expect([...before.keys()].filter((uuid) => !after.has(uuid))).toHaveLength(3);
  const changed = [...after].filter(([uuid, source]) => before.has(uuid) && before.get(uuid) !== source);
  expect(changed).toHaveLength(8);
  for (const [, source] of changed) expect(JSON.parse(source)).toMatchObject({ revision: 2 });
});

test("does it the same way every time, and again and again", async () => {
  const twin = await Simulator.start();
  for (const each of [simulator, twin]) for (let round = 0; round < 3; round += 1) evolve(each);

  expect(state()).toEqual(new Map(twin.listed().map(({ uuid, source }) => [uuid, source])));
  expect(state().size).toBe(100 + 3 * (5 - 3));
  await twin.stop();
});

test("makes no event twice", () => {
  simulator.setEvents(makeEvents(12).slice(6));

  expect(evolve(simulator).added).toBe(5);
  expect(simulator.size).toBe(11);
});

test.each([
  { events: 0, counts: { added: 5, changed: 0, archived: 0 } },
  { events: 2, counts: { added: 5, changed: 0, archived: 2 } },
  { events: 7, counts: { added: 5, changed: 4, archived: 3 } },
])("does what it can with $events events", ({ events, counts }) => {
  simulator.setEvents(makeEvents(events));

  expect(evolve(simulator)).toEqual(counts);
  expect(simulator.listed()).toHaveLength(events + 5 - counts.archived);
});
