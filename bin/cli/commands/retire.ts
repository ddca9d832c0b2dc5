// `retire`: takes a snapshot out of the tables; without `--yes` it says what that would do.

import { retire } from "../../../lambdas/job/run/retire.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { PLACE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import { EXIT } from "../output/exit-code.ts";
import type { CommandSpec } from "../wiring/command.ts";
import { openWarehouse } from "../wiring/open-warehouse.ts";

const OPTIONS = [...PLACE_OPTIONS, "yes", "logLevel", "json"] as const;

export const retireCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "retire",
  summary: "take a damaged or bad snapshot out of the tables; without --yes only say what would happen",
  argument: { name: "id", description: "the snapshot, as check, status and the table publications name it" },
  options: OPTIONS,
  example: "retire 2026-11-21T06-00-00.000Z --yes",
  execute: async (values, context, snapshotId) => {
    const { account, yes, json, logLevel } = values;
    const { stdout, stderr, signal } = context;
    const { store, catalog } = await openWarehouse(values, context);
    const logger = new Display({ terminal: stderr, clock: systemClock, level: logLevel });
    const ports = { store: accountStore(store, account), catalog, clock: systemClock, logger, signal };
    const { ok, explanation } = await retire(ports, { snapshotId, yes });
    const command = commandLineText(["retire", snapshotId, "--yes"], PLACE_OPTIONS, values);
    if (json) stdout.json({ ok, explanation });
    (json ? stderr : stdout).lines([
      explanation,
      ...(ok ? [] : [`Nothing was changed. To retire it: ${command}`]),
    ]);
    return ok ? EXIT.done : EXIT.wrongInput;
  },
  failureJson: () => ({ ok: false }),
};
