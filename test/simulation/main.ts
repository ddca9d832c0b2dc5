// `npm run simulate`: lives histories by their seeds, and shows the first one that breaks a promise.

import { type Options, readOptions, USAGE } from "./command-line.ts";
import { Coverage } from "./coverage.ts";
import { drawPlan } from "./plan/draw-plan.ts";
import { PLANTED_DEFECTS, PlantedCopy } from "./planted/plant.ts";
import { failureText, headline } from "./report.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulate.ts";

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
  return (options.planted ? findPlanted(options) : await liveAll(options)) ? 0 : 1;
}

/** False where a defect is not found. */
function findPlanted({ from, to }: Options): boolean {
  using copy = new PlantedCopy();
  let isEachFound = true;
  for (const defect of PLANTED_DEFECTS) {
    const { seed, finding } = copy.search(defect, from, to);
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
