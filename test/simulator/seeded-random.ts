// Numbers that look random and are the same for the same seed (mulberry32).

export type SeededRandom = () => number;

export const seededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A copy in another order, the same for the same seed. */
export const shuffled = <T>(items: readonly T[], seed: number): readonly T[] => {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
};
