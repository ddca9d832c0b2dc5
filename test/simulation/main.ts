// `npm run simulate`: lives histories by their seeds, and shows the first one that breaks a promise.

import { parseArgs } from "node:util";
import { freshSeeds, LAST_SEED } from "./chance.ts";
import { Coverage } from "./coverage.ts";
import { failureText, headline, shrink } from "./failure.ts";
import { drawPlan } from "./plan/draw-plan.ts";
import { PLANTED_DEFECTS, PlantedCopy } from "./planted/plant.ts";
import { simulate } from "./simulate.ts";

interface Options {
  readonly from: number;
  readonly to: number;
  /** Stops after so long, whatever seeds are left. */
  readonly seconds: number | undefined;
  /** Says at the end what was visited. */
  readonly hasSummary: boolean;
  /** Tells the whole story of the one seed. */
  readonly trace: boolean;
  /** Says which seed breaks a promise, and does not shrink it. */
  readonly brief: boolean;
  readonly planted: boolean;
}

const USAGE = `npm run simulate -- [options]

Lives histories of the job in virtual time, each drawn from its seed, and checks the promises of docs/guarantees.md.

  --seeds A..B   these seeds (1..1000)
  --seed N       this one
  --seconds N    stops after N seconds
  --hours N      from a seed drawn at random on, for N hours; then says what was visited, and what never
  --trace        with --seed: tells everything that happens
  --brief        names a seed that breaks a promise, and nothing more
  --planted      plants known defects one by one, and says which seed finds each`;

// Stories need no stacks, and making one for each simulated error takes time.
Error.stackTraceLimit = 0;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  return (options.planted ? findPlanted() : await liveAll(options)) ? 0 : 1;
}

/** False where a defect is not found. */
function findPlanted(): boolean {
  using copy = new PlantedCopy();
  let isEachFound = true;
  for (const defect of PLANTED_DEFECTS) {
    const { seed, finding } = copy.find(defect);
    if (seed === undefined) isEachFound = false;
    console.log(`${defect.name}\n  ${seed === undefined ? "NOT FOUND" : `seed ${seed}: ${finding}`}`);
  }
  return isEachFound;
}

/** False as soon as one of them breaks a promise. */
async function liveAll({
  from,
  to,
  seconds = Number.POSITIVE_INFINITY,
  trace,
  brief,
  hasSummary,
}: Options): Promise<boolean> {
  const beganMs = performance.now();
  const total = { histories: 0, processes: 0, calls: 0, hours: 0 };
  const coverage = new Coverage();
  const elapsed = (): number => (performance.now() - beganMs) / 1_000;
  for (let seed = from; seed <= to && elapsed() < seconds; seed += 1) {
    const history = await simulate(drawPlan(seed));
    if (trace) console.log(history.story.join("\n"));
    total.histories += 1;
    coverage.add(history.coverage);
    total.processes += history.processes;
    total.calls += history.calls;
    total.hours += history.hours;
    if (history.violation === undefined) continue;
    console.error(brief ? headline(history) : failureText(history, await shrink(history)));
    return false;
  }
  if (hasSummary) console.log(coverage.summary());
  const { histories, processes, calls, hours } = total;
  const each = (sum: number): string => (sum / histories).toFixed(1);
  console.log(
    `${histories} histories in ${elapsed().toFixed(1)} s (${(histories / elapsed()).toFixed(0)} a second), no promise broken. ` +
      `On average ${each(processes)} processes, ${each(calls)} calls and ${each(hours)} hours each.`,
  );
  return true;
}

/** Throws an error with a message for a person. */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      seconds: { type: "string" },
      hours: { type: "string" },
      trace: { type: "boolean", default: false },
      brief: { type: "boolean", default: false },
      planted: { type: "boolean", default: false },
    },
  });
  const { seed, hours, trace, brief, planted } = values;
  const seeds = values.seeds ?? (hours === undefined ? "1..1000" : freshSeeds(LAST_SEED));
  const seconds = hours === undefined ? values.seconds : String(wholeNumber(hours) * 3_600);
  const [from = "", to = from] = (seed ?? seeds).split("..");
  if (trace && from !== to) throw new Error("--trace takes one seed: --seed N --trace.");
  const options = { from: wholeNumber(from), to: wholeNumber(to), trace, brief, planted };
  if (options.to < options.from) throw new Error(`The seeds ${seeds} end before they begin.`);
  const most = seconds === undefined ? undefined : wholeNumber(seconds);
  return { ...options, seconds: most, hasSummary: hours !== undefined };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`Expected a whole number, got "${text}". Seeds are given as 1..1000.`);
  return Number(text);
}
