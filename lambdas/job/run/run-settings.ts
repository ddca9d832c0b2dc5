// The settings of a run, from those of its account.

import type { AccountSettings } from "../settings/account-settings.ts";
import type { LiftedColumn } from "../snapshot/rows/lifted-column.ts";
import type { RunSettings } from "./run-ports.ts";

const LARGEST_SHARD = 1_000;

export interface RunOf {
  readonly account: string;
  readonly lifted: readonly LiftedColumn[];
  /** Events of one shard, where it should be smaller than usual. */
  readonly shardSize?: number;
}

export function runSettings(
  settings: AccountSettings,
  { account, lifted, shardSize = LARGEST_SHARD }: RunOf,
): RunSettings {
  return {
    ...settings,
    account,
    lifted,
    windowMs: 60_000,
    shardSize: Math.min(shardSize, LARGEST_SHARD),
  };
}
