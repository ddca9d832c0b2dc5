// The starts of a schedule that daylight saving time leaves out: those at a time that no clock shows on the day it begins.
// EventBridge Scheduler starts nothing then ("Schedule types in EventBridge Scheduler", on daylight saving time).

import { parseSchedule } from "../../lambdas/job/settings-file/schedule.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Each clock that is moved is moved within a year; the month is for a rule that says "the last Sunday". */
const AHEAD_HOURS = 13 * 31 * 24;
/** A start that follows so soon makes up for the one that is left out. */
const SOON_HOURS = 2;

interface Scheduled {
  readonly schedule: string;
  readonly timeZone: string;
}

/** The next start that is left out with none to follow soon, as the clocks would show it: `2027-03-28 02:30`. */
export function leftOutStart({ schedule, timeZone }: Scheduled, from: Date): string | undefined {
  const startsAt = parseSchedule(schedule)?.startsAt;
  if (startsAt === undefined) return undefined;
  const offsetAt = offsets(timeZone);
  const firstMs = Math.floor(from.getTime() / HOUR_MS) * HOUR_MS;
  for (let ms = firstMs; ms < firstMs + AHEAD_HOURS * HOUR_MS; ms += HOUR_MS) {
    const [before, after] = [offsetAt(ms), offsetAt(ms + HOUR_MS)];
    if (after <= before) continue;
    let moved = ms;
    while (offsetAt(moved) === before) moved += MINUTE_MS;
    // The clocks go from the one time to the other.
    const [last, next] = [moved + before, moved + after];
    const starts = minutesBetween(last, next).filter((clock) => startsAt(new Date(clock)));
    const soon = minutesBetween(next, next + SOON_HOURS * HOUR_MS).some((clock) => startsAt(new Date(clock)));
    const [first] = starts;
    if (first !== undefined && !soon) return new Date(first).toISOString().slice(0, 16).replace("T", " ");
  }
  return undefined;
}

const minutesBetween = (fromMs: number, toMs: number): readonly number[] =>
  Array.from({ length: (toMs - fromMs) / MINUTE_MS }, (_, n) => fromMs + n * MINUTE_MS);

/** By how many milliseconds the clocks of a time zone are ahead of UTC at an instant. */
function offsets(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (ms) => {
    const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours = "0", minutes = "0"] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
  };
}
