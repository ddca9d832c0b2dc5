// More seeds of the simulation than `npm test` has time for: fixed ones, and others each time.

import { test } from "vitest";
import { freshSeeds } from "./chance.ts";
import { expectPromisesKept, PATIENCE_MS } from "./expect-promises-kept.ts";

/** Each has failed once, as one of those that were drawn. */
const FOUND_SEEDS: readonly number[] = [
  528, 4947, 23_623, 24_077, 5_001_730, 6_000_712, 8_002_061, 11_000_209, 20_003_664, 31_001_321, 700_001_710,
  700_105_113, 5_000_187, 55_000_355, 75_501_306, 91_001_525, 91_001_981, 91_000_297, 91_004_266, 91_004_365,
  91_004_788, 91_004_891, 75_525_396, 1_086, 2_184, 77_001_628, 520_003_479, 530_000_583, 2_037, 2_057, 2_654,
  100_137_206, 17_843, 6_118, 9_391,
];

const FRESH = freshSeeds(300);

test(
  "the simulation keeps every promise in 175 further histories",
  () => expectPromisesKept(26, 200),
  PATIENCE_MS,
);

test(
  `the simulation keeps every promise in 300 new histories: npm run simulate -- --seeds ${FRESH}`,
  async () => {
    const [from, to] = FRESH.split("..").map(Number);
    process.stdout.write(`new histories: npm run simulate -- --seeds ${FRESH}\n`);
    await expectPromisesKept(from ?? 1, to ?? 1);
  },
  PATIENCE_MS,
);

test(
  "the simulation keeps every promise in the histories that broke one",
  async () => {
    for (const seed of FOUND_SEEDS) await expectPromisesKept(seed, seed);
  },
  PATIENCE_MS,
);
