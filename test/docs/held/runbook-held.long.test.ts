// The runbook's section "Held" on a laptop, acted out: what the commands print is what the page shows.

import { expect, test } from "vitest";
import { against, lastJson, sync, writeCredentials } from "../../cli/command-line.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { asShown, SHOWN, stepsBelow } from "./runbook-steps.ts";
import { firstDay, worseDay } from "./worse-day.ts";

test("the commands of a laptop print what the page shows", async () => {
  await using service = await Simulator.start();
  const cwd = await temporaryDirectory();
  await writeCredentials(cwd, service);
  const run = async () =>
    String(lastJson(await sync(["run", "--json", ...against(service)], { cwd }))["run_id"]);
  firstDay(service);
  const head = await run();
  worseDay(service);
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

/** Instants, durations and the run of the accept are of the moment. */
function withoutInstants(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "<instant>")
    .replaceAll(/\baccept \d{4}-\S+Z/g, "accept <run>")
    .replaceAll(/\b\d+ s\b/g, "<seconds>");
}
