// The options of `npm run simulate`.

import { parseArgs } from "node:util";

export interface Options {
  readonly from: number;
  readonly to: number;
  /** Stops after so long, whatever seeds are left. */
  readonly seconds: number | undefined;
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
  --trace        with --seed: tells everything that happens
  --brief        names a seed that breaks a promise, and nothing more
  --planted      plants known defects one by one, and says which of the seeds finds each`;

/** Throws an error with a message for a person. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "1..1000" },
      seed: { type: "string" },
      seconds: { type: "string" },
      trace: { type: "boolean", default: false },
      brief: { type: "boolean", default: false },
      planted: { type: "boolean", default: false },
    },
  });
  const { seeds, seed, seconds, trace, brief, planted } = values;
  const [from = "", to = from] = (seed ?? seeds).split("..");
  if (trace && from !== to) throw new Error("--trace takes one seed: --seed N --trace.");
  const options = { from: wholeNumber(from), to: wholeNumber(to), trace, brief, planted };
  if (options.to < options.from) throw new Error(`The seeds ${seeds} end before they begin.`);
  return { ...options, seconds: seconds === undefined ? undefined : wholeNumber(seconds) };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`Expected a whole number, got "${text}". Seeds are given as 1..1000.`);
  return Number(text);
}
