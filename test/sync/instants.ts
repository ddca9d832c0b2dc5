// Two days of the schedule, so recent that what they leave behind is not deleted.

const DAY_MS = 86_400_000;

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
export const SCHEDULED_AT = daysAgo(2);
export const NEXT_DAY = daysAgo(1);
/** The run of `SCHEDULED_AT`. */
export const RUN = SCHEDULED_AT.replaceAll(":", "-");
/** The run of `NEXT_DAY`. */
export const NEXT_RUN = NEXT_DAY.replaceAll(":", "-");
