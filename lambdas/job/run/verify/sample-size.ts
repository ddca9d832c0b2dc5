// How many events a verification fetches again.

import { wholeNumber } from "../../settings/value-schemas.ts";

export const DEFAULT_VERIFIED = 100;

/** At the default budget almost an hour, in which no run of the account can start. */
export const MAX_VERIFIED = 10_000;

export const sampleSize = wholeNumber(1, MAX_VERIFIED);
