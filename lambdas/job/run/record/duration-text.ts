// A time as people read it: `12 s`, `4 min`, `2 h 5 min`, `3 days`, rounded up.

/** What the budget adds to each window is nothing to round up for. */
const IGNORED_MS = 10;

export function durationText(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms - IGNORED_MS) / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.ceil(minutes / (24 * 60))} days`;
}
