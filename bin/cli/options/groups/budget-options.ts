// How fast the service may be asked.

import { ACCOUNT_DEFAULTS } from "../../../../lambdas/job/settings/account-defaults.ts";
import { accountSettings } from "../../../../lambdas/job/settings/account-settings.ts";
import { numberOf } from "../option-parsers.ts";

const SETTINGS = accountSettings.shape;

export const BUDGET_OPTIONS = {
  requestsPerMinute: {
    flag: "--requests-per-minute <n>",
    description: "requests that the service allows per minute, of which 90 % are used, or unlimited",
    fallback: String(ACCOUNT_DEFAULTS.requestsPerMinute),
    parse: numberOf(SETTINGS.requestsPerMinute),
  },
  bytesPerMinute: {
    flag: "--bytes-per-minute <n>",
    description:
      "bytes of decompressed bodies that the service allows per minute, of which 90 % are used, or unlimited",
    fallback: String(ACCOUNT_DEFAULTS.bytesPerMinute),
    parse: numberOf(SETTINGS.bytesPerMinute),
  },
  limitWindow: {
    flag: "--limit-window <seconds>",
    description: "the limits per minute hold on average over this many seconds, 10 to 3600",
    fallback: String(ACCOUNT_DEFAULTS.limitWindowSeconds),
    parse: numberOf(SETTINGS.limitWindowSeconds),
  },
  concurrency: {
    flag: "--concurrency <n>",
    description: "requests at the same time",
    fallback: String(ACCOUNT_DEFAULTS.concurrency),
    parse: numberOf(SETTINGS.concurrency),
  },
} as const;
