// The settings of one account: what they may be, their defaults, their canonical values. Every place that takes
// settings (command line, environment, cdk.json) extends this schema.

import * as z from "zod";
import { parsePointer } from "../json/json-document.ts";
import { authUrl } from "./auth-url.ts";
import { baseUrl } from "./base-url.ts";
import { isListed } from "./is-listed.ts";
import { limit } from "./limit.ts";
import { requiredPointers } from "./required-pointers.ts";
import { growthPercent, percent, text, wholeNumber } from "./value-schemas.ts";

const MIB = 1_048_576;

const pointer = text("expected a JSON Pointer such as /data/events", isPointer);

export const accountSettings = z.strictObject({
  baseUrl,
  /** The address of the identity provider, for the method `oauth`. */
  authUrl: authUrl.optional(),
  /** Limits of the service, of which 90 % are used. */
  requestsPerMinute: limit.default(200),
  bytesPerMinute: limit.default(10 * MIB),
  /** The limits per minute hold on average over so many seconds. */
  limitWindowSeconds: wholeNumber(10, 3_600).default(60),
  /** Requests at the same time. */
  concurrency: wholeNumber(1, 256).default(16),
  isListed: isListed.default("true"),
  /** JSON Pointers (RFC 6901) to the list and to the event, where they are not in one of the usual places. */
  listPointer: pointer.optional(),
  detailPointer: pointer.optional(),
  /** How many fewer events than the head are still published. */
  maxDropPercent: percent.default(20),
  /** How many more events than the head are still published; without it any number. */
  maxGrowthPercent: growthPercent.optional(),
  /** How many of the listed events may be missing; 5 events always may. */
  maxMissingPercent: percent.default(1),
  /** What details must have: without a value there they count as incomplete, and as many may be as may be missing. */
  require: requiredPointers.default([]),
  /** Published snapshots older than so many days are deleted; without it all are kept. */
  retainDays: wholeNumber(1, 36_500).optional(),
  /** How old the last progress of an unfinished run may be for a manual start to resume it. */
  resumeWithinMinutes: wholeNumber(0, 20_160).default(60),
});

export type AccountSettings = Readonly<z.output<typeof accountSettings>>;

function isPointer(value: string): boolean {
  try {
    parsePointer(value);
    return true;
  } catch {
    return false;
  }
}
