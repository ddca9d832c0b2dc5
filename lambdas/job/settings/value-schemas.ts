// Schemas of single values. Each says in plain English what is expected.

import * as z from "zod";

export const trueOrFalse = z.boolean("expected true or false");

export function wholeNumber(least: number, most: number): z.ZodInt {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

/** How many events a dry run or `discover` fetches. */
export const eventLimit = wholeNumber(1, 1e9);

const HOURS = "expected a number of hours above 0";
/** How old data may be. */
export const hours = z.number(HOURS).positive(HOURS);

const PERCENT = "expected a percentage from 0 to 100";
export const percent = z.number(PERCENT).min(0, PERCENT).max(100, PERCENT);

const GROWTH_PERCENT = "expected a percentage from 0 to 1000000";
/** Growth has no end at 100 %. */
export const growthPercent = z.number(GROWTH_PERCENT).min(0, GROWTH_PERCENT).max(1e6, GROWTH_PERCENT);

/** @param expectation `expected …`, as the person with the wrong value reads it */
export function text(expectation: string, isValid: (value: string) => boolean): z.ZodString {
  return z.string(expectation).refine(isValid, expectation);
}
