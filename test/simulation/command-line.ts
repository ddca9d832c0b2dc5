// The options of `npm run simulate`.

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export interface Options {
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

export const USAGE = `npm run simulate -- [options]

Lives histories of the job in virtual time, each drawn from its seed, and checks the promises of docs/delivery.md.

  --seeds A..B   these seeds (1..1000)
  --seed N       this one
  --seconds N    stops after N seconds
  --hours N      from a seed drawn at random on, for N hours; then says what was visited, and what never
  --trace        with --seed: tells everything that happens
  --brief        names a seed that breaks a promise, and nothing more
  --planted      plants known defects one by one, and says which of the seeds finds each`;

const LAST_SEED = 999_999_999;

/** So many, from one drawn at random on. */
export function freshSeeds(count: number): string {
  const from = randomInt(1_000, Math.floor(LAST_SEED / 2));
  return `${from}..${Math.min(LAST_SEED, from + count - 1)}`;
}

/** Throws an error with a message for a person. */
export function readOptions(args: readonly string[]): Options {
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
