// The runbook's section "Held" on a laptop, acted out: what the commands print is what the page shows.

import { join } from "node:path";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { sync } from "../../cli/command-line.ts";
import { Warehouse } from "../../cli/warehouse.ts";
import { Sandbox } from "../../job/run/sandbox.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { asShown, SHOWN, stepsBelow } from "./runbook-steps.ts";
import { firstDay, worseDay } from "./worse-day.ts";

test("the commands of a laptop print what the page shows", async () => {
  const cwd = await temporaryDirectory();
  await using sandbox = await Sandbox.start({}, {}, IMPATIENT);
  sandbox.account = "default";
  const { store, views: catalog } = new Warehouse(join(cwd, "warehouse"));
  const run = async () => (await sandbox.run({}, { store, catalog })).row.run_id;
  firstDay(sandbox.simulator);
  const head = await run();
  worseDay(sandbox.simulator);
  const held = await run();

  for (const { command, answer } of stepsBelow("### The same on a laptop")) {
    const [, ...args] = command.replaceAll(SHOWN.held, held).split(" ");
    const { stdout, exitCode } = await sync(args, { cwd });

    expect({ command, exitCode, printed: withoutInstants(asShown(stdout.trim(), { head, held })) }).toEqual({
      command,
      exitCode: 0,
      printed: withoutInstants(answer),
    });
  }
});

/** The time of this computer, by which the commands tell ages, but what a run waits for comes soon. */
const IMPATIENT: Clock = {
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs(),
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};

/** Instants, durations and the run of the accept are of the moment. */
function withoutInstants(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "<instant>")
    .replaceAll(/\baccept \d{4}-\S+Z/g, "accept <run>")
    .replaceAll(/\b\d+ s\b/g, "<seconds>");
}
