// From the function's environment to the settings of one account's run.

import { BUDGET_SHARE } from "../job/run/collect/estimate.ts";
import type { Limit, RunSettings } from "../job/run/run-ports.ts";
import type { AccountSettings, FunctionEnvironment } from "./environment.ts";

const LARGEST_SHARD = 1_000;

export function runSettings(
  account: string,
  settings: AccountSettings,
  { lifted }: Pick<FunctionEnvironment, "lifted">,
): RunSettings {
  const { resumeWithinMinutes, listPointer, detailPointer, retainDays, secretId: _, ...shared } = settings;
  return {
    ...shared,
    account,
    listPointer,
    detailPointer,
    retainDays,
    lifted,
    windowMs: 60_000,
    resumeWithinMs: resumeWithinMinutes * 60_000,
    shardSize: shardSize(settings.requestsPerMinute),
  };
}

/** A minute's budget: where an invocation stops for want of time it then gives away a minute at the most. */
function shardSize(requestsPerMinute: Limit): number {
  if (requestsPerMinute === "unlimited") return LARGEST_SHARD;
  return Math.min(LARGEST_SHARD, Math.max(1, Math.floor(requestsPerMinute * BUDGET_SHARE)));
}
