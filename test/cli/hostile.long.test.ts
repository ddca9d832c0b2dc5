// Hostile content, byte for byte, from the service through the command line to a reader's DuckDB.

import { expect, test } from "vitest";
import { hostileEvents } from "../simulator/hostile-events.ts";
import { laptop, lastJson } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

/** Independent of the scanner: character by character, with a flag for being inside a string. */
function withoutWhiteSpace(json: string): string {
  let kept = "";
  let inString = false;
  for (let i = 0; i < json.length; i += 1) {
    const character = json.charAt(i);
    if (inString && character === "\\") {
      kept += character + json.charAt(i + 1);
      i += 1;
      continue;
    }
    if (character === '"') inString = !inString;
    if (inString || !" \t\r\n".includes(character)) kept += character;
  }
  return kept;
}

test.each(["data", "data-event", "bare"] as const)(
  "hostile content in the shape %s arrives as it was sent",
  async (shape) => {
    const events = hostileEvents();
    await using world = await laptop({ events, detail: { shape }, encoding: "gzip" });

    const run = await world.ask("run", "--json");

    expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED", events: events.length });
    const rows = await readRows(world.warehouse, "SELECT uuid, event, listing FROM events");
    const read = new Map(rows.map(([uuid, event, listing]) => [uuid, { event, listing }]));
    for (const { name, uuid, source, listing } of events) {
      const expected = { event: withoutWhiteSpace(source), listing: withoutWhiteSpace(listing) };
      expect(read.get(uuid.toLowerCase()), name).toEqual(expected);
    }
  },
);

// Of which text: `test/job/service/events/read-detail.test.ts`.
test("event_date and scope are those of the event", async () => {
  await using world = await laptop({ events: hostileEvents() });
  await world.ask("run");

  const rows = await readRows(world.warehouse, "SELECT uuid, event_date, scope FROM events");

  const of = (name: string): readonly unknown[] | undefined => {
    const event = hostileEvents().find((one) => one.name === name);
    return rows.find(([uuid]) => uuid === event?.uuid)?.slice(1);
  };
  expect(of("no date and no scope")).toEqual([null, null]);
  expect(of("an object as date")).toEqual(['{"from":"2026-01-01","to":"2026-02-01"}', "national"]);
  expect(of("a number as date")).toEqual(["20260101.10", "false"]);
});
