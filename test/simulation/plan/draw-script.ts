// Draws starts that belong together: a run that crashes or is held up at a change, damage, or two commands at the same time,
// and what people and the schedule do then.

import type { Chance } from "../chance.ts";
import {
  type CallFault,
  type Command,
  type Damage,
  faultAt,
  type Item,
  type ServiceChange,
  type Setting,
  type Start,
  startOf,
} from "./plan.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const REMOVE: Command = { name: "remove" };
const RUN: Command = { name: "run", fresh: false, isDry: false };

/** In the order of time, from `afterMs` on. The ids begin with `s`. */
export function drawScript(
  chance: Chance,
  setting: Setting,
  account: string,
  afterMs: number,
): readonly Item[] {
  if (chance.is(0.2)) return drawRemoval(chance, account, afterMs);
  const isOnLaptop = setting.warehouse === "directory";
  const byHand = isOnLaptop ? "laptop" : chance.pick(["laptop", "function"]);
  let atMs = afterMs;
  const next = (id: string, by: Start["by"], command: Command, pauseMs: number): Start => {
    atMs += pauseMs;
    return startOf(id, account, atMs, command, by);
  };
  const change = (): Item => ({
    kind: "change",
    account,
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
  const fault: CallFault = isCrash
    ? { kind: "kill", when: chance.pick(["before", "after", "after"]) }
    : { kind: "pause", ms: chance.pick([90 * SECOND_MS, 5 * MINUTE_MS]) };
  const trouble = faultAt(second.id, { changing, nth: 1 }, fault);
  const soonMs = (): number => chance.between(SECOND_MS, isCrash ? 4 * MINUTE_MS : 80 * SECOND_MS);
  const pick = chance.pick([0, 1, 1, 2]);
  const review: Command = chance.is(0.7)
    ? { name: "rollback", pick, pin: chance.is(0.4) }
    : { name: "accept", pick, force: chance.is(0.6) };
  const isReview = chance.is(0.7);
  const rare: Command = byHand === "laptop" && chance.is(0.5) ? REMOVE : { name: "retire", pick };
  const decision = chance.is(0.4) ? rare : review;
  const third = next("s3", isReview ? byHand : "schedule", isReview ? decision : RUN, soonMs());
  const fourth = next("s4", byHand, RUN, soonMs());
  return [first, growth, second, trouble, third, fourth];
}

/** A removal is held up until its lease has expired, and a run comes meanwhile; or a run is delivered again after it. */
function drawRemoval(chance: Chance, account: string, afterMs: number): readonly Item[] {
  const start = (id: string, by: Start["by"], command: Command, atMs: number): Start =>
    startOf(id, account, afterMs + atMs, command, by);
  const pauseMs = 5 * MINUTE_MS;
  const middleMs = 10 * MINUTE_MS;
  const first = start("s1", "laptop", RUN, 0);
  const last = start("s4", "laptop", RUN, middleMs + pauseMs + chance.between(0, 2 * MINUTE_MS));
  if (chance.is(0.5)) {
    const again = { ...start("s2", "schedule", RUN, middleMs), againAfterMs: pauseMs };
    return [first, again, start("s3", "laptop", REMOVE, middleMs + chance.between(MINUTE_MS, pauseMs)), last];
  }
  const trouble = faultAt("s2", { changing: "publications/", nth: 1 }, { kind: "pause", ms: pauseMs });
  const meanwhile = start("s3", "laptop", RUN, middleMs + chance.between(65 * SECOND_MS, pauseMs));
  return [first, start("s2", "laptop", REMOVE, middleMs), trouble, meanwhile, last];
}

/** Parts of keys. Where the newest of them would be missing without a trace, or a mark would say nothing, it is cut. */
const WHERE = [
  "/part-",
  "/part-",
  "snapshots/",
  "_manifest.json",
  "changes/",
  "changes/",
  "changes/",
  "views.sql",
  "rows-",
  "record-",
  "plan",
  "run-log/",
  "publications/",
  "lease.json",
] as const;

/** Two runs, damage between what follows, and commands that meet it. In the order of time. */
export function drawDamage(chance: Chance, account: string, afterMs: number): readonly Item[] {
  let atMs = afterMs;
  let n = 0;
  const start = (command: Command): Start => {
    n += 1;
    atMs += chance.between(10 * MINUTE_MS, 2 * HOUR_MS);
    return startOf(`d${n}`, account, atMs, command);
  };
  const damage = (where: (typeof WHERE)[number]): Damage => {
    const how = chance.pick(["missing", "cut", "flip", "foreign"]);
    const isCutOnly = where === "publications/" || where === "lease.json" || where === "snapshots/";
    return {
      kind: "damage",
      account,
      afterMs: atMs + 5 * MINUTE_MS,
      where,
      how: isCutOnly && how !== "foreign" ? "cut" : how,
      restoredAfterMs: chance.is(0.3) ? chance.between(MINUTE_MS, 3 * HOUR_MS) : undefined,
    };
  };
  const run = (): Command => drawRun(chance);
  const command = (): Command => chance.pick([run(), drawAny(chance)]);
  const grows = (): Item => ({
    kind: "change",
    account,
    afterMs: atMs + MINUTE_MS,
    change: chance.pick<ServiceChange>([
      { kind: "add", events: 2 },
      { kind: "revise", share: 0.3 },
      { kind: "archive", share: 0.3 },
    ]),
  });
  const both = (): readonly Damage[] => [
    damage(chance.pick(WHERE)),
    ...(chance.is(0.5) ? [damage("/part-")] : []),
  ];
  return [
    start(run()),
    grows(),
    start(run()),
    ...both(),
    start(command()),
    start({ name: "check", deep: chance.is(0.5) }),
    grows(),
    start(command()),
    ...both(),
    start(run()),
    start({ name: "check", deep: chance.is(0.5) }),
  ];
}

function drawRun(chance: Chance): Command {
  return { name: "run", fresh: false, isDry: false, overDamaged: chance.is(0.5) };
}

function drawAny(chance: Chance): Command {
  const overDamaged = chance.is(0.5);
  return chance.pick<Command>([
    drawRun(chance),
    { name: "rollback", pick: chance.pick([0, 1, 2]), pin: false, overDamaged },
    { name: "accept", pick: chance.pick([0, 1]), force: true, overDamaged },
    { name: "retire", pick: chance.pick([1, 2]) },
    { name: "remove" },
    { name: "check", deep: chance.is(0.5) },
    { name: "discover" },
    { name: "run", fresh: false, isDry: true },
    { name: "diff", a: chance.pick([0, 1, 2]), b: chance.pick([undefined, 0, 1]) },
  ]);
}

/** Two runs, then two commands at the same time. */
export function drawPair(chance: Chance, account: string, afterMs: number): readonly Start[] {
  const start = (id: string, command: Command, atMs: number): Start =>
    startOf(id, account, afterMs + atMs, command);
  const pairMs = 2 * HOUR_MS;
  return [
    start("c1", drawRun(chance), 0),
    start("c2", drawRun(chance), HOUR_MS),
    start("c3", drawAny(chance), pairMs),
    start("c4", drawAny(chance), pairMs + chance.between(0, 500)),
  ];
}
