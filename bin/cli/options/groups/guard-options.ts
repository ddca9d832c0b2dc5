// The options of the guard: when a snapshot is held.

import { ACCOUNT_DEFAULTS } from "../../../../lambdas/job/settings/account-defaults.ts";
import { accountSettings } from "../../../../lambdas/job/settings/account-settings.ts";
import { numberOf, pointerTexts } from "../option-parsers.ts";

const SETTINGS = accountSettings.shape;

export const GUARD_OPTIONS = {
  maxDrop: {
    flag: "--max-drop <percent>",
    description: "how many fewer events than before may still be published",
    fallback: String(ACCOUNT_DEFAULTS.maxDropPercent),
    parse: numberOf(SETTINGS.maxDropPercent),
  },
  maxGrowth: {
    flag: "--max-growth <percent>",
    description: "how many more events than before may still be published; without it any number",
    parse: numberOf(SETTINGS.maxGrowthPercent),
  },
  maxMissing: {
    flag: "--max-missing <percent>",
    description: "how many of the listed events may be missing (5 always may)",
    fallback: String(ACCOUNT_DEFAULTS.maxMissingPercent),
    parse: numberOf(SETTINGS.maxMissingPercent),
  },
  require: {
    flag: "--require <pointer>",
    description:
      "a JSON Pointer into the detail that must not be absent or null in more events than may be missing; repeatable, as variable a JSON array",
    isRepeatable: true,
    parse: pointerTexts,
  },
} as const;
