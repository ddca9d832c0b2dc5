// For what has a time limit that no clock of a test moves: what a machine does in time when it is idle may take it longer.

/**
 * What the first attempt in enough time brings: each that brings nothing is followed by one with ten times as long.
 * @param attempt brings undefined where the time was too short for what should happen within it
 */
export async function inTimeEnough<T>(
  ms: number,
  attempt: (limitMs: number) => Promise<T | undefined>,
): Promise<T> {
  return (await attempt(ms)) ?? inTimeEnough(ms * 10, attempt);
}
