// From the function's environment to the settings of one account's run.

import { type RunSettings, runSettings } from "../job/run/run-settings.ts";
import type { FunctionAccount, FunctionEnvironment } from "./environment.ts";

export function accountRunSettings(
  account: string,
  { secretId: _, tokensSecretId: __, ...settings }: FunctionAccount,
  { lifted }: Pick<FunctionEnvironment, "lifted">,
): RunSettings {
  return runSettings(settings, { account, lifted });
}
