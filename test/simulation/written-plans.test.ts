// Plans that are written, not drawn: what happens too seldom by chance, and is as it should be.

import { expect, test } from "vitest";
import { drawPlan } from "./plan/draw-plan.ts";
import type { Command, Item, Plan, Setting, Start } from "./plan/plan.ts";
import { simulate } from "./simulate.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const RUN: Command = { name: "run", fresh: false, isDry: false };

const rollback = (pick: number): Command => ({ name: "rollback", pick, pin: false });

function start(id: string, afterMs: number, command: Command): Start {
  return { kind: "start", id, account: "uk", afterMs, by: "laptop", command };
}

/** Between a run an hour and what comes then. */
function planOf(setting: Partial<Setting>, items: readonly Item[]): Plan {
  const drawn = drawPlan(1);
  const calm: Setting = {
    ...drawn.setting,
    accounts: ["uk"],
    warehouse: "directory",
    method: "basic",
    hasTwoVersions: false,
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    stricterRequestsPerMinute: undefined,
    paging: "link",
    isPagingKnown: true,
    isShuffled: false,
    require: [],
    knownAfterMs: 0,
    latencyMs: 5,
  };
  const runs = [0, 1, 2].map((hour) => start(`run${hour}`, hour * HOUR_MS, RUN));
  return { seed: 1, setting: { ...calm, ...setting }, items: [...runs, ...items] };
}

/** After the list and four details of a run. */
function oddDetails(of: string, text: string): Item {
  const answer = { kind: "odd", status: 200, text } as const;
  return {
    kind: "fault",
    start: of,
    attempt: 0,
    port: "service",
    nth: 6,
    fault: { kind: "answer", answer, times: 2 },
  };
}

function pause(of: string, at: { readonly changing?: string; readonly nth: number }): Item {
  return {
    kind: "fault",
    start: of,
    attempt: 0,
    port: "any",
    ...at,
    fault: { kind: "pause", ms: 5 * MINUTE_MS },
  };
}

test("what becomes the head while retire takes it out may be rolled back to once more", async () => {
  const history = await simulate(
    planOf({ retainDays: undefined }, [
      start("retire", 3 * HOUR_MS, { name: "retire", pick: 1 }),
      pause("retire", { nth: 2 }),
      start("meanwhile", 3 * HOUR_MS + MINUTE_MS, rollback(1)),
      start("after", 4 * HOUR_MS, RUN),
      start("again", 5 * HOUR_MS, rollback(2)),
    ]),
  );

  expect(history.violation).toBeUndefined();
  expect(history.story.filter((line) => / (?:retire|meanwhile|again) ends/.test(line))).toEqual([
    expect.stringContaining("meanwhile ends: PUBLISHED"),
    expect.stringContaining("retire ends: throws CONFIG_INVALID"),
    expect.stringContaining("again ends: PUBLISHED"),
  ]);
});

test.each([
  ["is still the head", []],
  ["was the head for a moment", [start("away", 30 * HOUR_MS + 3 * MINUTE_MS, rollback(0))]],
])("what becomes the head while retention is stopped keeps its files: it %s", async (_, then) => {
  const history = await simulate(
    planOf({ retainDays: 1 }, [
      start("due", 30 * HOUR_MS, RUN),
      // After the first of two marks.
      pause("due", { changing: "_retired.json", nth: 1 }),
      start("meanwhile", 30 * HOUR_MS + 2 * MINUTE_MS, rollback(2)),
      ...then,
      start("after", 40 * HOUR_MS, RUN),
    ]),
  );

  expect(history.violation).toBeUndefined();
  expect(history.story).toContainEqual(expect.stringContaining("meanwhile ends: PUBLISHED"));
  expect(history.story).toContainEqual(
    expect.stringMatching(/due creates snapshots\/uk\/2026-01-05T07-00-00.000Z\/_retired.json/),
  );
});

test("verify tells of the snapshot that it has read, also where the account was removed meanwhile", async () => {
  const history = await simulate(
    planOf({}, [
      start("verify", 3 * HOUR_MS, { name: "verify" }),
      pause("verify", { nth: 11 }),
      start("remove", 3 * HOUR_MS + 2 * MINUTE_MS, { name: "remove" }),
    ]),
  );

  expect(history.violation).toBeUndefined();
  expect(history.story.filter((line) => /(?:verify|remove) ends/.test(line))).toEqual([
    expect.stringContaining("remove ends: removed"),
    expect.stringMatching(/verify ends: \d+ same/),
  ]);
});

test("a process that was stopped before it says how its run failed leaves that to the one that works on it", async () => {
  const delivered: Start = { ...start("due", 3 * HOUR_MS, RUN), by: "schedule", againAfterMs: 295_000 };
  const history = await simulate(
    planOf({}, [
      delivered,
      {
        kind: "fault",
        start: "due",
        attempt: 0,
        port: "service",
        nth: 1,
        fault: { kind: "answer", answer: { kind: "redirect" }, times: 1 },
      },
      // The confirmation of the lease, which has expired before the process goes on.
      pause("due", { changing: "lease.json", nth: 2 }),
    ]),
  );

  expect(history.violation).toBeUndefined();
  expect(history.story.filter((line) => / due(?:-again)? ends/.test(line))).toEqual([
    expect.stringContaining("due ends: SKIPPED LEASE_LOST"),
    expect.stringContaining("due-again ends: PUBLISHED"),
  ]);
});

test.each<[string, Partial<Setting>, readonly Item[]]>([
  ["a session that is known late", { method: "session", knownAfterMs: 2_500 }, []],
  ["an access token that is known late", { method: "oauth", knownAfterMs: 2_500 }, []],
  ...([419, 440, "redirect"] as const).map((ends): [string, Partial<Setting>, readonly Item[]] => [
    `a session that ends with ${ends}`,
    { method: "session", session: { maxAgeMs: undefined, maxRequests: 4, exclusive: false, ends } },
    [],
  ]),
  ["odd details", {}, [oddDetails("run1", "null"), oddDetails("run2", '{"error":1}')]],
])("%s: each run publishes", async (_, setting, items) => {
  const history = await simulate(planOf({ events: 10, concurrency: 3, ...setting }, items));

  expect(history.violation).toBeUndefined();
  const ends = history.story.filter((line) => / run\d ends/.test(line));
  expect(ends).toHaveLength(3);
  expect(ends.filter((line) => line.includes("ends: PUBLISHED"))).toEqual(ends);
});

test("what a stopped process would move back in Glue stays at the later head", async () => {
  const history = await simulate(
    planOf({ warehouse: "bucket", catalogLagMs: 2_000, hasStateMachine: false }, [
      start("accept", 3 * HOUR_MS, { name: "accept", pick: 1, force: false }),
      pause("accept", { nth: 8 }),
      start("remove", 3 * HOUR_MS + 2 * MINUTE_MS, { name: "remove" }),
      start("after", 3 * HOUR_MS + 3 * MINUTE_MS, RUN),
    ]),
  );

  expect(history.violation).toBeUndefined();
  expect(history.story).toContainEqual(expect.stringContaining("after ends: PUBLISHED"));
  expect(history.story).not.toContainEqual(expect.stringContaining("accept UpdatePartition events"));
});
