// From the function's environment to the settings of one account's run.

import { LARGEST_SHARD, type RunSettings, runSettings } from "../job/run/run-settings.ts";
import type { AccountSettings } from "../job/settings/account-settings.ts";
import { allowance, windowAllowance } from "../job/settings/limit.ts";
import type { FunctionAccount, FunctionEnvironment } from "./environment.ts";

export function accountRunSettings(
  account: string,
  { secretId: _, tokensSecretId: __, ...settings }: FunctionAccount,
  { lifted }: Pick<FunctionEnvironment, "lifted">,
): RunSettings {
  return runSettings(settings, { account, lifted, shardSize: shardSizeOf(settings) });
}

const MINUTE_SECONDS = 60;
/** The part of a window's requests that is for details. The rest is for the login, the list and retries. */
const FOR_DETAILS = 0.995;

/**
 * About a minute's requests: an invocation that stops because its time is over then loses a minute at most. A longer
 * window is divided evenly, because an invocation sends what it allows in whole shards.
 */
function shardSizeOf({ requestsPerMinute, limitWindowSeconds }: AccountSettings): number {
  const inMinute = allowance(requestsPerMinute);
  if (requestsPerMinute === "unlimited" || limitWindowSeconds <= MINUTE_SECONDS) return inMinute;
  const inWindow = windowAllowance(requestsPerMinute, limitWindowSeconds * 1_000) * FOR_DETAILS;
  const minutes = Math.ceil(limitWindowSeconds / MINUTE_SECONDS);
  const shards = Math.max(minutes, Math.ceil(inWindow / LARGEST_SHARD));
  return Math.max(1, Math.floor(inWindow / shards));
}
