// Draws starts that belong together: a run that crashes or is held up at a change, and what people and the schedule do then.

import type { Chance } from "../chance.ts";
import type { Command, Item, ServiceChange, Setting, Start } from "./plan.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

const RUN: Command = { name: "run", fresh: false, isDry: false };

/** In the order of time, from `afterMs` on. The ids begin with `s`. */
export function drawScript(chance: Chance, setting: Setting, afterMs: number): readonly Item[] {
  const isOnLaptop = setting.warehouse === "directory";
  const byHand = isOnLaptop ? "laptop" : chance.pick(["laptop", "function"]);
  let atMs = afterMs;
  const next = (id: string, by: Start["by"], command: Command, pauseMs: number): Start => {
    atMs += pauseMs;
    return { kind: "start", id, afterMs: atMs, by, command };
  };
  const change = (): Item => ({
    kind: "change",
    afterMs: atMs + MINUTE_MS,
    change: chance.pick<ServiceChange>([
      { kind: "add", events: 4 },
      { kind: "archive", share: 0.3 },
      { kind: "revise", share: 0.6 },
    ]),
  });
  const first = next("s1", byHand, RUN, 0);
  const growth = change();
  const second = next("s2", chance.pick([byHand, "schedule"]), RUN, 10 * MINUTE_MS);
  const changing = chance.pick([
    "plan",
    "record-",
    "rows-",
    "part-",
    "_manifest.json",
    "changes/",
    "publications/",
    "publications/",
    "run-log/",
    "outcome.json",
  ]);
  const isCrash = chance.is(0.5);
  const trouble: Item = {
    kind: "fault",
    start: second.id,
    attempt: 0,
    port: "any",
    changing,
    nth: 1,
    fault: isCrash
      ? { kind: "kill", when: chance.pick(["before", "after", "after"]) }
      : { kind: "pause", ms: chance.pick([90 * SECOND_MS, 5 * MINUTE_MS]) },
  };
  const soonMs = (): number => chance.between(SECOND_MS, isCrash ? 4 * MINUTE_MS : 80 * SECOND_MS);
  const pick = chance.pick([0, 1, 1, 2]);
  const review: Command = chance.is(0.7)
    ? { name: "rollback", pick, pin: chance.is(0.4) }
    : { name: "accept", pick, force: chance.is(0.6) };
  const isReview = chance.is(0.7);
  const third = next("s3", isReview ? byHand : "schedule", isReview ? review : RUN, soonMs());
  const fourth = next("s4", byHand, RUN, soonMs());
  return [first, growth, second, trouble, third, fourth];
}
