// What holds for one start of a command only, so that no settings file has it.

import { DEFAULT_SAMPLE, MAX_SAMPLE } from "../../../../lambdas/job/run/discover.ts";
import {
  DEFAULT_VERIFIED,
  MAX_VERIFIED,
  sampleSize,
} from "../../../../lambdas/job/run/verify/sample-size.ts";
import { eventLimit } from "../../../../lambdas/job/settings/value-schemas.ts";
import { numberOf, switchValue } from "../option-parsers.ts";

export const START_OPTIONS = {
  dryRun: {
    flag: "--dry-run",
    description: "fetch and check everything, publish nothing",
    fallback: "false",
    parse: switchValue,
  },
  limit: {
    flag: "--limit <n>",
    description: `fetch only this many events: run with --dry-run only; discover ${MAX_SAMPLE} at most, ${DEFAULT_SAMPLE} by default. diff: show this many changes`,
    parse: numberOf(eventLimit),
  },
  sample: {
    flag: "--sample <n>",
    description: `how many random events verify fetches again, ${MAX_VERIFIED} at most`,
    fallback: String(DEFAULT_VERIFIED),
    parse: numberOf(sampleSize),
  },
  sql: {
    flag: "--sql",
    description: "print the view events_typed with the columns that are there and the suggested ones",
    fallback: "false",
    parse: switchValue,
  },
  fresh: {
    flag: "--fresh",
    description: "start a new run instead of resuming an unfinished one",
    fallback: "false",
    parse: switchValue,
  },
  deep: {
    flag: "--deep",
    description: "verify the checksums of all snapshots, not only of the one that readers see",
    fallback: "false",
    parse: switchValue,
  },
  overDamaged: {
    flag: "--over-damaged",
    description: "publish although files of the snapshot that readers see are damaged",
    fallback: "false",
    parse: switchValue,
  },
  force: {
    flag: "--force",
    description: "accept a snapshot that is older than the one readers see",
    fallback: "false",
    parse: switchValue,
  },
  noPin: {
    flag: "--no-pin",
    description: "let the next run replace the snapshot that is rolled back to",
    fallback: "false",
    parse: switchValue,
  },
} as const;
