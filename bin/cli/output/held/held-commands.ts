// The commands that decide on a held snapshot, ready to paste.

import type { HeldCommands } from "../../../../lambdas/job/run/compare/held-detail.ts";
import { commandLineText } from "../../options/command-line-text.ts";
import { PLACE_OPTIONS } from "../../options/given-settings.ts";
import type { OptionValues } from "../../options/options.ts";

export type PlaceValues = OptionValues<(typeof PLACE_OPTIONS)[number]>;

/** @param values where the snapshot is */
export function heldCommands(snapshotId: string, values: PlaceValues): HeldCommands {
  const command = (name: string): string => commandLineText([name, snapshotId], PLACE_OPTIONS, values);
  return { accept: command("accept"), diff: command("diff") };
}
