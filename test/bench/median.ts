// The median of a list of measurements.

/** For an even number of values the mean of the middle two. Throws for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  if (middle.length === 0) throw new RangeError("an empty list has no median");
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
