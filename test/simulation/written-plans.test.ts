// Plans that are written, not drawn: what happens too seldom by chance, and is as it should be.

import { expect, test } from "vitest";
import { drawPlan } from "./plan/draw-plan.ts";
import {
  type CallFault,
  type Command,
  faultAt,
  type Item,
  type Plan,
  type Setting,
  type Start,
  startOf,
} from "./plan/plan.ts";
import { simulate } from "./simulate.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const RUN: Command = { name: "run", fresh: false, isDry: false };

const rollback = (pick: number): Command => ({ name: "rollback", pick, pin: false });

const start = (id: string, afterMs: number, command: Command): Start => startOf(id, "uk", afterMs, command);

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
    wording: 0,
    behindLast: undefined,
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
  return faultAt(of, { port: "service", nth: 6 }, { kind: "answer", answer, times: 2 });
}

const pause = (of: string, at: { readonly changing?: string; readonly nth: number }): Item =>
  faultAt(of, at, { kind: "pause", ms: 5 * MINUTE_MS });

/** What happens in it, without a promise that is broken. */
async function live(setting: Partial<Setting>, items: readonly Item[]): Promise<readonly string[]> {
  const { violation, story } = await simulate(planOf(setting, items));
  expect(violation).toBeUndefined();
  return story;
}

/** Which starts end, in which order, and how. */
type Ends = readonly (readonly [start: string, how: string])[];
const EACH_PUBLISHES: Ends = [0, 1, 2].map((n) => [`run${n}`, "PUBLISHED"]);
const TEN: Partial<Setting> = { events: 10, concurrency: 3 };
const OPEN: Partial<Setting> = {
  ...{ ...TEN, method: "session" },
  session: {
    ...{ maxAgeMs: 70_000, maxRequests: undefined, exclusive: false, ends: 401 },
    isOpen: true,
  },
};

/** A fault of one request. */
function answered(status: number, seconds?: number): CallFault {
  const retryAfter = seconds === undefined ? {} : { retryAfter: { seconds, isDate: false } };
  return { kind: "answer", answer: { kind: "status", status, ...retryAfter }, times: 1 };
}

test.each<[string, Partial<Setting>, readonly Item[], Ends]>([
  [
    "what becomes the head while retire takes it out may be rolled back to once more",
    { retainDays: undefined },
    [
      start("retire", 3 * HOUR_MS, { name: "retire", pick: 1 }),
      pause("retire", { nth: 2 }),
      start("meanwhile", 3 * HOUR_MS + MINUTE_MS, rollback(1)),
      start("after", 4 * HOUR_MS, RUN),
      start("again", 5 * HOUR_MS, rollback(2)),
    ],
    [
      ["meanwhile", "PUBLISHED"],
      ["retire", "throws CONFIG_INVALID"],
      ["again", "PUBLISHED"],
    ],
  ],
  [
    "a process that was stopped before it says how its run failed leaves that to the one that works on it",
    {},
    [
      { ...start("due", 3 * HOUR_MS, RUN), by: "schedule", againAfterMs: 236_000 },
      faultAt("due", { port: "service", nth: 1 }, { kind: "answer", answer: { kind: "redirect" }, times: 1 }),
      // The confirmation of the lease, which has expired before the process goes on.
      pause("due", { changing: "lease.json", nth: 2 }),
    ],
    [
      ["due", "SKIPPED LEASE_LOST"],
      ["due-again", "PUBLISHED"],
    ],
  ],
  ["a session that is known late", { ...TEN, method: "session", knownAfterMs: 2_500 }, [], EACH_PUBLISHES],
  [
    "an access token that is known late",
    { ...TEN, method: "oauth", knownAfterMs: 2_500 },
    [],
    EACH_PUBLISHES,
  ],
  ...([419, 440, "redirect"] as const).map((ends): [string, Partial<Setting>, readonly Item[], Ends] => [
    `a session that ends with ${ends}`,
    {
      ...{ ...TEN, method: "session" },
      session: { maxAgeMs: undefined, maxRequests: 4, exclusive: false, ends, isOpen: false },
    },
    [],
    EACH_PUBLISHES,
  ]),
  [
    "an error in place of a page",
    { ...TEN, pageSize: 3, paging: "page" },
    ["run0", "run2"].map((id) => {
      const answer = { kind: "odd", status: 200, text: '{"error":{"code":1}}' } as const;
      return faultAt(
        id,
        { port: "service", nth: 3 },
        { kind: "answer", answer, times: id === "run0" ? 9 : 2 },
      );
    }),
    [
      ["run0", "FAILED LIST_INCOMPLETE"],
      ["run1", "PUBLISHED"],
      ["run2", "PUBLISHED"],
    ],
  ],
  [
    "a session that ends while a request with it is on its way",
    { ...OPEN, events: 14, concurrency: 1, requestsPerMinute: 10 },
    // The first request of the second minute comes there when its session is over.
    [faultAt("run1", { port: "service", nth: 10 }, { kind: "slow", ms: 25_000 })],
    EACH_PUBLISHES,
  ],
  [
    "a session that ends before its first request",
    OPEN,
    [
      faultAt("run1", { port: "service", nth: 2 }, answered(429, 75)),
      faultAt("run2", { port: "service", nth: 2 }, answered(503, 75)),
    ],
    EACH_PUBLISHES,
  ],
  [
    "a login that is put off",
    { ...TEN, method: "session" },
    [
      faultAt("run0", { port: "service", nth: 1 }, answered(503)),
      faultAt("run1", { port: "service", nth: 1 }, answered(429, 30)),
      faultAt("run2", { port: "service", nth: 1 }, answered(502)),
    ],
    EACH_PUBLISHES,
  ],
  [
    "a token request that is put off",
    { ...TEN, method: "oauth", tokens: { lifeMs: HOUR_MS / 2, rotates: true, graceMs: 0 } },
    [faultAt("run1", { port: "service", nth: 1 }, answered(503))],
    EACH_PUBLISHES,
  ],
  ["odd details", TEN, [oddDetails("run1", "null"), oddDetails("run2", '{"error":1}')], EACH_PUBLISHES],
])("%s", async (_, setting, items, ends) => {
  const story = await live(setting, items);

  const told = story.filter((line) => ends.some(([id]) => line.includes(` ${id} ends`)));
  expect(told).toEqual(ends.map(([id, how]) => expect.stringMatching(new RegExp(` ${id} ends: ${how}`))));
});

test.each([
  ["is still the head", []],
  ["was the head for a moment", [start("away", 30 * HOUR_MS + 3 * MINUTE_MS, rollback(0))]],
])("what becomes the head while retention is stopped keeps its files: it %s", async (_, then) => {
  const story = await live({ retainDays: 1 }, [
    start("due", 30 * HOUR_MS, RUN),
    // After the first of two marks.
    pause("due", { changing: "_retired.json", nth: 1 }),
    start("meanwhile", 30 * HOUR_MS + 2 * MINUTE_MS, rollback(2)),
    ...then,
    start("after", 40 * HOUR_MS, RUN),
  ]);

  expect(story).toContainEqual(expect.stringContaining("meanwhile ends: PUBLISHED"));
  expect(story).toContainEqual(
    expect.stringMatching(/due creates snapshots\/uk\/2026-01-05T07-00-00.000Z\/_retired.json/),
  );
});

test("what a stopped process would move back in Glue stays at the later head", async () => {
  const story = await live({ warehouse: "bucket", catalogLagMs: 2_000, hasStateMachine: false }, [
    start("accept", 3 * HOUR_MS, { name: "accept", pick: 1, force: false }),
    pause("accept", { nth: 8 }),
    start("remove", 3 * HOUR_MS + 2 * MINUTE_MS, { name: "remove" }),
    start("after", 3 * HOUR_MS + 3 * MINUTE_MS, RUN),
  ]);

  expect(story).toContainEqual(expect.stringContaining("after ends: PUBLISHED"));
  expect(story).not.toContainEqual(expect.stringContaining("accept UpdatePartition events"));
});
