// Draws what damages files of the warehouse, what people start then, and what they start at the same time.

import type { Chance } from "../chance.ts";
import type { Command, Damage, Item, ServiceChange, Start } from "./plan.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

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
    return { kind: "start", id: `d${n}`, account, afterMs: atMs, by: "laptop", command };
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
    { name: "verify" },
    { name: "diff", a: chance.pick([0, 1, 2]), b: chance.pick([undefined, 0, 1]) },
  ]);
}

/** Two runs, then two commands at the same time. */
export function drawPair(chance: Chance, account: string, afterMs: number): readonly Start[] {
  const start = (id: string, command: Command, atMs: number): Start => ({
    kind: "start",
    id,
    account,
    afterMs: afterMs + atMs,
    by: "laptop",
    command,
  });
  const pairMs = 2 * HOUR_MS;
  return [
    start("c1", drawRun(chance), 0),
    start("c2", drawRun(chance), HOUR_MS),
    start("c3", drawAny(chance), pairMs),
    start("c4", drawAny(chance), pairMs + chance.between(0, 500)),
  ];
}
