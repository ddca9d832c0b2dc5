// Which expressions EventBridge Scheduler accepts, the longest time between two starts, and when data is stale.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const UNIT_MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1_440 };
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Days relative to the calendar, such as the last Friday: valid, but not computed here. */
const RELATIVE_DAY_OF_MONTH = /^(L(-\d{1,2})?|LW|([1-9]|[12]\d|3[01])W)$/;
const RELATIVE_WEEKDAY = /^([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5])$/;

interface Schedule {
  /**
   * Hours between two starts at the most, switches of daylight saving time aside; undefined for days relative to
   * the calendar.
   */
  readonly longestGapHours: number | undefined;
  /**
   * Whether it starts when clocks show this minute, in the fields of UTC; days relative to the calendar are taken for each
   * day. Undefined for a rate, which no clock moves.
   */
  readonly startsAt?: (clock: Date) => boolean;
}

/** A schedule that repeats for ever; undefined for anything else: `at(…)`, named years, a wrong form. */
export function parseSchedule(expression: string): Schedule | undefined {
  const [, kind, body = ""] = /^(cron|rate)\(([^()]*)\)$/.exec(expression) ?? [];
  if (kind === "rate") return parseRate(body);
  if (kind === "cron") return parseCron(body.toUpperCase().split(/\s+/));
  return undefined;
}

function parseRate(body: string): Schedule | undefined {
  const [, count, unit = "", plural] = /^([1-9]\d{0,5}) (minute|hour|day)(s?)$/.exec(body) ?? [];
  const unitMinutes = UNIT_MINUTES[unit];
  if (unitMinutes === undefined || (count === "1") !== (plural === "")) return undefined;
  return { longestGapHours: (Number(count) * unitMinutes) / 60 };
}

// cron(minutes hours day-of-month month day-of-week year); exactly one of the two kinds of day is "?".
function parseCron(fields: readonly string[]): Schedule | undefined {
  const [minuteField = "", hourField = "", dayField = "", monthField = "", weekdayField = "", year] = fields;
  if (fields.length !== 6 || year !== "*" || (dayField === "?") === (weekdayField === "?")) return undefined;
  const minutes = valuesOf(minuteField, 0, 59);
  const hours = valuesOf(hourField, 0, 23);
  const months = valuesOf(monthField, 1, 12, MONTHS);
  if (minutes === undefined || hours === undefined || months === undefined) return undefined;
  const isTime = (clock: Date): boolean =>
    hours.has(clock.getUTCHours()) && minutes.has(clock.getUTCMinutes());
  const isMonth = (clock: Date): boolean => months.has(clock.getUTCMonth() + 1);
  if (RELATIVE_DAY_OF_MONTH.test(dayField) || RELATIVE_WEEKDAY.test(weekdayField)) {
    return { longestGapHours: undefined, startsAt: (clock) => isTime(clock) && isMonth(clock) };
  }
  const days = dayField === "?" ? undefined : valuesOf(dayField, 1, 31);
  const weekdays = weekdayField === "?" ? undefined : valuesOf(weekdayField, 1, 7, WEEKDAYS);
  if (days === undefined && weekdays === undefined) return undefined;
  const isDue = (date: Date): boolean =>
    isMonth(date) && (days?.has(date.getUTCDate()) ?? true) && (weekdays?.has(date.getUTCDay() + 1) ?? true);
  const gapMs = longestGapMs(minutes, hours, isDue);
  if (gapMs === undefined) return undefined;
  return {
    longestGapHours: gapMs / (60 * MINUTE_MS),
    startsAt: (clock) => isTime(clock) && isDue(clock),
  };
}

/** `*`, or a list of `5`, `5-9`, `0/10`, `5-20/5`; names if the field has them. */
function valuesOf(
  field: string,
  least: number,
  most: number,
  names: readonly string[] = [],
): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const item of field.split(",")) {
    const [, first = "", last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item) ?? [];
    const numberOf = (text: string): number =>
      names.includes(text) ? names.indexOf(text) + least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
    const from = first === "*" ? least : numberOf(first);
    const to = last !== undefined ? numberOf(last) : first === "*" || step !== undefined ? most : from;
    if (!(least <= from && from <= to && to <= most) || step === "0") return undefined;
    if (first === "*" && last !== undefined) return undefined;
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

/** Searches eight years, which include a 29 February; undefined if no day matches. */
function longestGapMs(
  minutes: ReadonlySet<number>,
  hours: ReadonlySet<number>,
  isDue: (date: Date) => boolean,
): number | undefined {
  const times = [...hours]
    .flatMap((hour) => [...minutes].map((minute) => (hour * 60 + minute) * MINUTE_MS))
    .toSorted((a, b) => a - b);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  let longest = times.reduce((gap, time, index) => Math.max(gap, time - (times[index - 1] ?? time)), 0);
  let previousMs: number | undefined;
  const endMs = Date.UTC(2032, 0, 1);
  for (let dayMs = Date.UTC(2024, 0, 1); dayMs < endMs; dayMs += DAY_MS) {
    if (!isDue(new Date(dayMs))) continue;
    if (previousMs !== undefined) longest = Math.max(longest, dayMs + first - previousMs);
    previousMs = dayMs + last;
  }
  return previousMs === undefined ? undefined : longest;
}

/** An alarm looks back at most seven days. */
export const MAX_STALE_HOURS = 168;
/** A day and the margin: a schedule of every hour may fail for a day before its data is stale. */
const LEAST_HOURS = 26;
/** How much later than planned a run may end that starts late or is retried. */
const MARGIN_HOURS = 2;

interface ScheduledAccount {
  readonly enabled: boolean;
  readonly schedule: string;
  readonly staleAfterHours?: number | undefined;
}

/** The schedule's longest gap and a margin, at least 26; undefined for a schedule that is off, or too rare for an alarm. */
export function staleAfterHours(account: ScheduledAccount): number | undefined {
  if (!account.enabled) return undefined;
  if (account.staleAfterHours !== undefined) return account.staleAfterHours;
  const gapHours = parseSchedule(account.schedule)?.longestGapHours;
  if (gapHours === undefined) return undefined;
  const hours = Math.max(LEAST_HOURS, Math.ceil(gapHours) + MARGIN_HOURS);
  return hours > MAX_STALE_HOURS ? undefined : hours;
}
