// The settings of a run: those of its account, and what a deployment or a test decides.

import type { AccountSettings } from "../settings/account-settings.ts";
import type { LiftedColumn } from "../snapshot/rows/lifted-column.ts";

export interface RunSettings extends Omit<AccountSettings, "limitWindowSeconds"> {
  readonly account: string;
  /** In the order of their columns, after those of every row. */
  readonly lifted: readonly LiftedColumn[];
  /** Length of the window of the limits in milliseconds. */
  readonly windowMs: number;
  /** Events of one shard: 1,000 at most, but for tests. */
  readonly shardSize: number;
}

/** In events. */
export const LARGEST_SHARD = 1_000;

export interface RunOf {
  readonly account: string;
  readonly lifted: readonly LiftedColumn[];
  /** Events of one shard, where it should be smaller than usual. */
  readonly shardSize?: number;
}

export function runSettings(
  { limitWindowSeconds, ...settings }: AccountSettings,
  { account, lifted, shardSize = LARGEST_SHARD }: RunOf,
): RunSettings {
  return {
    ...settings,
    account,
    lifted,
    windowMs: limitWindowSeconds * 1_000,
    shardSize: Math.min(shardSize, LARGEST_SHARD),
  };
}
