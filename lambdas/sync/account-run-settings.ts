// From the function's environment to the settings of one account's run.

import { type RunSettings, runSettings } from "../job/run/run-settings.ts";
import { allowance } from "../job/settings/limit.ts";
import type { FunctionAccount, FunctionEnvironment } from "./environment.ts";

export function accountRunSettings(
  account: string,
  { secretId: _, tokensSecretId: __, ...settings }: FunctionAccount,
  { lifted }: Pick<FunctionEnvironment, "lifted">,
): RunSettings {
  // A minute's requests: an invocation that stops because its time is over then loses a minute at most.
  const shardSize = allowance(settings.requestsPerMinute);
  return runSettings(settings, { account, lifted, shardSize });
}
