// What values may be. Each schema says in plain English what it expects.

import * as z from "zod";

/** @param expectation `expected …`, as the person with the wrong value reads it */
export function text(expectation: string, isValid: (value: string) => boolean): z.ZodString {
  return z.string(expectation).refine(isValid, expectation);
}

export const trueOrFalse = z.boolean("expected true or false");

export function wholeNumber(least: number, most: number): z.ZodInt {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

/** How many events a dry run or `discover` fetches. */
export const eventLimit = wholeNumber(1, 1e9);

const ACCOUNT_NAME =
  "expected a name of 1 to 40 characters of a-z, 0-9, _ and -, beginning with a letter or digit";

/** The name is a segment of keys and a value of partition columns. */
export const accountName = z.string(ACCOUNT_NAME).regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, ACCOUNT_NAME);

export const databaseName = text(
  "expected a name of 1 to 255 characters of a-z, 0-9 and _, for the Glue database",
  (value) => /^[a-z0-9_]{1,255}$/.test(value),
);

/** Which events the service is asked for (docs/service-interface.md §3.2); `any` sends no filter. */
export const isListed = z.enum(["true", "false", "any"], 'expected "true", "false" or "any"');

export type IsListed = z.output<typeof isListed>;

/** With capitals as in `Port_of_Spain` and `DumontDUrville`: no name has four in a row. */
const AREA_AND_PLACE = /^(?!.*[A-Z]{4})(?:US|[A-Z][a-z]+)(?:[/_+-](?:[A-Z\d][A-Za-z\d]*|of|es|au))+$/;

/** One that EventBridge Scheduler has too: it takes no offset, no other abbreviation and no other capitals. */
export const timeZone = text(
  "expected UTC, GMT, or a time zone by its area and place, such as Europe/London",
  (value) => {
    if (value === "UTC" || value === "GMT") return true;
    if (!AREA_AND_PLACE.test(value)) return false;
    try {
      const { timeZone: known } = new Intl.DateTimeFormat("en", { timeZone: value }).resolvedOptions();
      // ICU ignores capitals, and says Asia/Calcutta for Asia/Kolkata.
      return known === value || known.toLowerCase() !== value.toLowerCase();
    } catch {
      return false;
    }
  },
);

/** AWS takes 50 for each resource; one is the deployment's own. */
const MAX_TAGS = 49;

/** The tags of every resource that takes tags. */
export const tags = z
  .record(
    text(
      "expected a tag of 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:",
      (key) => /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu.test(key),
    ),
    text("expected up to 256 letters, digits, spaces and _ . : / = + - @", (value) =>
      /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u.test(value),
    ),
    'expected tags as an object of texts, such as {"cost-center": "4711"}',
  )
  .refine((given) => Object.keys(given).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
  // IAM takes them for one.
  .refine(haveOwnNames, "expected tags whose names differ in more than capital letters");

function haveOwnNames(given: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(given);
  return new Set(keys.map((key) => key.toLowerCase())).size === keys.length;
}

const MOST = 1e12;
const EXPECTED = `expected a whole number from 1 to ${MOST}, or "unlimited"`;

export const limit = z
  .union([z.literal("unlimited"), z.number()], EXPECTED)
  .refine(
    (value) => value === "unlimited" || (Number.isInteger(value) && value >= 1 && value <= MOST),
    EXPECTED,
  );

export type Limit = z.output<typeof limit>;

/** Retries and clocks that differ need room below the limit. */
const SHARE = 0.9;

/** What may be used of a limit in a window that it is averaged over: 90 %, but always one. Without a limit, Infinity. */
export function allowance(perMinute: Limit, windowMs = 60_000, share = SHARE): number {
  if (perMinute === "unlimited") return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor(((perMinute * windowMs) / 60_000) * share));
}

export interface Limits {
  readonly requestsPerMinute: Limit;
  /** Body bytes after decoding: some services count so, and on the others it is the safe side. */
  readonly bytesPerMinute: Limit;
  /** The limits hold on average over any time of this length, so in a longer one more may go at once. */
  readonly windowMs: number;
}

/** A window in which less than one request is allowed is too short: one must always be. */
export function windowMsOf({ requestsPerMinute, windowMs }: Limits): number {
  return requestsPerMinute === "unlimited"
    ? windowMs
    : Math.max(windowMs, Math.ceil(60_000 / requestsPerMinute));
}
