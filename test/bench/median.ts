// The middle of some measurements.

/** The mean of the two in the middle where their number is even. Throws for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  if (middle.length === 0) throw new RangeError("there is no median of nothing");
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
