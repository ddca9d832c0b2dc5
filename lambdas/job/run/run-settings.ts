// The settings of a run: those of its account, and what a deployment or a test decides.

import type { LiftedColumn } from "../settings/lifted-column.ts";
import type { AccountSettings } from "../settings-file/settings-schema.ts";

export interface RunSettings extends Omit<AccountSettings, "limitWindowSeconds"> {
  /** The lifted fields in the order of their columns, which follow those of every row. */
  readonly lifted: readonly LiftedColumn[];
  /** Length of the window of the limits in milliseconds. */
  readonly windowMs: number;
  /** Events of a staged range at most, where tests want fewer than the run would take. */
  readonly rangeEvents?: number | undefined;
}

export function runSettings(
  { limitWindowSeconds, ...settings }: AccountSettings,
  lifted: readonly LiftedColumn[],
): RunSettings {
  return { ...settings, lifted, windowMs: limitWindowSeconds * 1_000 };
}
