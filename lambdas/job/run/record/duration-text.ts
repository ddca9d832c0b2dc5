// A time as people read it: `12 s`, `4 min`, `2 h 5 min`, `3 days`.

/** What the budget adds to each window is nothing to round up for. */
const IGNORED_MS = 10;

/** To the nearest unit: what was. */
export function durationText(ms: number): string {
  return textOf(ms, Math.round);
}

/** Rounded up: what a person has to wait for. */
export function remainingText(ms: number): string {
  return textOf(ms - IGNORED_MS, Math.ceil);
}

function textOf(ms: number, round: (value: number) => number): string {
  const seconds = round(Math.max(0, ms) / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${round(minutes / (24 * 60))} days`;
}
