// The settings that the function needs, for its settings file. The stack uses the others.

import type { SettingsFile } from "../../lambdas/sync/settings-file.ts";
import type { Settings } from "./settings.ts";

export function functionSettings({ accounts, lifted }: Settings): SettingsFile {
  const entries = Object.entries(accounts).map(([name, account]) => {
    const { schedule, timeZone, enabled, staleAfterHours, leftOutAlarmAbove, ...forFunction } = account;
    return [name, forFunction] as const;
  });
  return { accounts: Object.fromEntries(entries), lifted: [...lifted] };
}
