import { describe, expect, test } from "vitest";
import { FIRST, HandOverWorld, RUN } from "./hand-over-world.ts";

const EVENTS = 2_000;

describe("2,000 events under a time limit of 20 s", () => {
  test("are published over several invocations: each detail is fetched once, the parts are those of one process", async () => {
    const world = new HandOverWorld({ events: EVENTS, limitSeconds: 20 });
    const undisturbed = new HandOverWorld({ events: EVENTS });

    const first = await world.first();
    const turns = await world.play();
    await undisturbed.first();

    expect(first.row).toMatchObject({ outcome: "HANDED_OVER", reason: "TIME_LIMIT", trigger: "schedule" });
    expect(turns.at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, trigger: "schedule" });
    expect(turns.length).toBeGreaterThan(3);
    expect(world.small.details).toBe(EVENTS);
    expect(world.executions.names).toEqual([FIRST]);
    expect(await world.parts(RUN)).toBe(await undisturbed.parts(RUN));
    expect(await world.small.seen()).toEqual(world.small.truth());
  });
});
