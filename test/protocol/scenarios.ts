// Which processes work at once: every pair of a run, its second delivery, another run, accept, rollback and remove; and
// two processes that collect the events of one run.

import type { CatalogKind } from "./catalog.ts";
import { chainProgram, type Damage, damageProgram, isDamage, type Plan } from "./chain.ts";
import type { Defect } from "./defects.ts";
import { type Actor, type Exploration, explore } from "./explore.ts";
import { brokenLaw } from "./laws.ts";
import {
  type Ending,
  inTurn,
  type Rules,
  removeProgram,
  reviewProgram,
  runProgram,
  type Start,
} from "./programs.ts";
import { Memory, type Program } from "./step.ts";
import { endOf, firstWorld, headOf, publicationsOf, type World } from "./world.ts";

interface Work {
  readonly action: "run" | "accept" | "rollback" | "remove" | "collect" | Damage;
  /** Of a removal: its name. */
  readonly snapshot: number;
}

export interface Scenario {
  readonly world: World;
  /** What each process does, one after the other. */
  readonly work: readonly (readonly Work[])[];
  /** What is collected event by event. */
  readonly plan?: Plan;
}

const run = (snapshot: number): Work => ({ action: "run", snapshot });
const accept = (snapshot: number): Work => ({ action: "accept", snapshot });
const rollback = (snapshot: number): Work => ({ action: "rollback", snapshot });

/** Two processes of run 2, and what may happen to their files. */
function collecting(plan: Plan, damage?: Damage, foreignPart?: number): Scenario {
  const collect: Work = { action: "collect", snapshot: 2 };
  const first = { sizes: {}, events: plan.length, ...(foreignPart === undefined ? {} : { foreignPart }) };
  const others: readonly Work[][] = damage === undefined ? [] : [[{ action: damage, snapshot: 2 }]];
  return { world: firstWorld(first), plan, work: [[collect], [collect], ...others] };
}

const short: Plan = ["flaps", "is found"];

/** Runs 2 to 4 are named before it, 7 and 9 after it. */
const remove: Work = { action: "remove", snapshot: 5 };

const equal = { 1: 10, 2: 10, 3: 10, 7: 10, 9: 10 };
/** Snapshots 2 and 3 have too few events to replace 1, but 3 may replace 2. */
const shrinking = { 1: 10, 2: 5, 3: 5, 9: 10 };

export const SCENARIOS = {
  "two runs": { world: firstWorld({ sizes: equal }), work: [[run(2)], [run(3)]] },
  "one run, delivered twice": { world: firstWorld({ sizes: equal }), work: [[run(2)], [run(2)]] },
  "one run that is held, delivered twice": {
    world: firstWorld({ sizes: shrinking }),
    work: [[run(2)], [run(2)]],
  },
  "one run that is refused, delivered twice": {
    world: firstWorld({ sizes: equal, refused: [2] }),
    work: [[run(2)], [run(2)]],
  },
  "a run, and two others one after the other": {
    world: firstWorld({ sizes: equal, refused: [3, 4] }),
    work: [[run(2)], [run(3), run(4)]],
  },
  "a run and a rollback": { world: firstWorld({ sizes: equal }), work: [[run(2)], [rollback(1)]] },
  "a run and an accept": {
    world: firstWorld({ sizes: shrinking, held: [2] }),
    work: [[run(3)], [accept(2)]],
  },
  "a run, and an accept before its second delivery": {
    world: firstWorld({ sizes: shrinking, held: [2] }),
    work: [[run(3)], [accept(2), run(3)]],
  },
  "a run that is held and its accept": {
    world: firstWorld({ sizes: shrinking, held: [2] }),
    work: [[run(2)], [accept(2)]],
  },
  "an accept and a rollback": {
    world: firstWorld({ sizes: shrinking, held: [2] }),
    work: [[accept(2)], [rollback(1)]],
  },
  "a removal and a later run": { world: firstWorld({ sizes: equal }), work: [[remove], [run(7)]] },
  "a removal and a run, delivered twice": {
    world: firstWorld({ sizes: equal }),
    work: [[remove], [run(2), run(2)]],
  },
  "a removal and an accept": {
    world: firstWorld({ sizes: shrinking, held: [2] }),
    work: [[remove], [accept(2)]],
  },
  "a removal and the accept of a first snapshot": {
    world: firstWorld({ sizes: shrinking, held: [2], isNew: true }),
    work: [[remove], [accept(2)]],
  },
  "a removal and a rollback": { world: firstWorld({ sizes: equal }), work: [[remove], [rollback(1)]] },
  "a run, and a removal after an accept": {
    world: firstWorld({ sizes: { ...shrinking, 3: 10 }, held: [2] }),
    work: [[run(3)], [accept(2), remove]],
  },
  "two accepts": { world: firstWorld({ sizes: shrinking, held: [2, 3] }), work: [[accept(2)], [accept(3)]] },
  "two processes collect a run": collecting(["flaps", "is found", "flaps"]),
  "two processes collect a run, and rows are lost": collecting(short, "loses rows"),
  "two processes collect a run, and rows are damaged": collecting(short, "damages rows"),
  "two processes collect a run, and a part is lost": collecting(short, "loses parts"),
  "two processes collect a run beside a foreign part": collecting(short, undefined, 2),
  "two processes collect a run, and a foreign part has a name of theirs": collecting(short, undefined, 0),
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof SCENARIOS;

export function isScenario(text: string): text is ScenarioName {
  return Object.hasOwn(SCENARIOS, text);
}

export function isCollecting(name: ScenarioName): boolean {
  return SCENARIOS[name].world.chain.events > 0;
}

/** Collecting has no catalog. */
export function catalogsOf(name: ScenarioName): readonly CatalogKind[] {
  return isCollecting(name) ? ["views.sql"] : ["Glue", "views.sql"];
}

export interface Terms {
  readonly catalog: CatalogKind;
  readonly defect?: Defect;
  /** How often each process starts: one more than it may crash and come back. */
  readonly starts: number;
}

export function exploreScenario(name: ScenarioName, { catalog, defect, starts }: Terms): Exploration {
  const { world, work, plan = [] }: Scenario = SCENARIOS[name];
  const rules: Rules = { catalog, has: (each) => each === defect };
  const actors = work.map(
    (each, index): Actor => ({
      name: `P${index + 1}`,
      starts: each.some(({ action }) => isDamage(action)) ? 0 : starts,
      program: (start) =>
        inTurn(
          each.map((one) => (again) => programOf(one, again, rules, plan)),
          start,
        ),
    }),
  );
  const wrongEnd = (end: World, hasCrashed: boolean): string | undefined =>
    plan.length > 0
      ? brokenByNextStart(end, plan, rules)
      : ((hasCrashed ? undefined : (wrongHead(end, catalog) ?? shownAfterRemoval(end, catalog))) ??
        brokenByNextRun(end, rules));
  return explore({ world, actors, wrongEnd });
}

function programOf({ action, snapshot }: Work, start: Start, rules: Rules, plan: Plan): Program<Ending> {
  switch (action) {
    case "run":
      return runProgram(snapshot, start, rules);
    case "collect":
      return chainProgram(snapshot, plan, start, rules.has);
    case "remove":
      return removeProgram(snapshot, start, rules);
    case "accept":
    case "rollback":
      return reviewProgram(action, snapshot, start, rules);
    default:
      return damageProgram(action, start);
  }
}

/** After everything, ordinary starts finish the run, or say that it cannot be finished: then a new run has other files. */
function brokenByNextStart(first: World, plan: Plan, { has }: Rules): string | undefined {
  let world = first;
  for (let start = 1; start <= 3; start += 1) {
    const next = runAlone(
      world,
      chainProgram(2, plan, { process: "next", start, memory: new Memory() }, has),
    );
    const law = brokenLaw(world, next.world, true);
    if (law !== undefined) return law;
    if (next.ending === "MADE") return undefined;
    if (next.ending === "CORRUPT" || next.ending === "REPEATED")
      return world.chain.isDamaged ? undefined : `the next start ends ${next.ending}`;
    world = next.world;
  }
  return "three more starts do not finish the run";
}

/** Where no process has crashed, readers see the head. */
function wrongHead(world: World, catalog: CatalogKind): string | undefined {
  const head = catalog === "Glue" ? headOf(world)?.publication : endOf(world).last;
  const shown = catalog === "Glue" ? world.glue.events?.publication : world.views;
  return shown === head ? undefined : `readers see publication ${shown}, and the head is ${head}`;
}

/** Nothing that a removal has cut off is left in Glue. */
function shownAfterRemoval(world: World, catalog: CatalogKind): string | undefined {
  if (catalog !== "Glue") return undefined;
  const counted = publicationsOf(world).map(({ publication }) => publication);
  const left = Object.keys(world.glue.changes).filter(
    (publication) => !counted.includes(Number(publication)),
  );
  return left.length > 0 ? `event_changes shows ${left}, which was removed` : undefined;
}

/** After everything, one ordinary run with as many events as ever publishes, unless a person has pinned the head. */
function brokenByNextRun(world: World, rules: Rules): string | undefined {
  const { ending, world: after } = runAlone(
    world,
    runProgram(9, { process: "next", start: 1, memory: new Memory() }, rules),
  );
  const expected: Ending = headOf(world)?.pinned ? "HELD" : "PUBLISHED";
  return ending === expected ? wrongHead(after, rules.catalog) : `the next run ends ${ending}`;
}

/** Every lease it meets has expired. */
function runAlone(
  first: World,
  program: Program<Ending>,
): { readonly ending: Ending; readonly world: World } {
  let world = first;
  let next = program.next();
  while (!next.done) {
    const step = next.value;
    const [expired] = step.choices ?? [];
    const effect = step.apply(world);
    world = expired === undefined ? effect.world : world;
    next = program.next(expired ?? effect.result);
  }
  return { ending: next.value, world };
}
