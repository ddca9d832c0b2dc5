// `accept` and `rollback`: publish a snapshot that is already there, without a request to the service.

import { type AcceptOrRollback, acceptOrRollback } from "../../../lambdas/job/run/accept-or-rollback.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { readHead } from "../../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import type { OptionName, OptionValues } from "../options/options.ts";
import { PLACE_OPTIONS } from "../options/options.ts";
import { describeHead } from "../output/describe-status.ts";
import { Display } from "../output/display.ts";
import { failureJson, reportRun } from "../output/run-report.ts";
import type { CommandContext, CommandSpec } from "../wiring/command.ts";
import { openWarehouse, refuseMissingWarehouse } from "../wiring/open-warehouse.ts";

const SHARED = [...PLACE_OPTIONS, "overDamaged", "logLevel", "json"] as const;
const ID = { name: "id", description: "the snapshot, as status and the table publications name it" };

export const acceptCommand: CommandSpec<(typeof SHARED)[number] | "force"> = {
  name: "accept",
  summary: "publish a snapshot that is held, or one that was published before",
  argument: ID,
  options: [...SHARED, "force"],
  example: "accept 2026-11-21T06-00-00.000Z",
  execute: (values, context, snapshotId) =>
    publish(values, context, {
      action: "accept",
      snapshotId,
      force: values.force,
      overDamaged: values.overDamaged,
    }),
  failureJson,
};

export const rollbackCommand: CommandSpec<(typeof SHARED)[number] | "noPin"> = {
  name: "rollback",
  summary: "publish an older snapshot again, and hold later ones until an accept",
  argument: ID,
  options: [...SHARED, "noPin"],
  example: "rollback 2026-11-20T06-00-00.000Z",
  execute: (values, context, snapshotId) =>
    publish(values, context, {
      action: "rollback",
      snapshotId,
      pin: !values.noPin,
      overDamaged: values.overDamaged,
    }),
  failureJson,
};

async function publish(
  values: OptionValues<Extract<OptionName, (typeof SHARED)[number]>>,
  context: CommandContext,
  request: AcceptOrRollback,
): Promise<number> {
  const { json } = values;
  const warehouse = await openWarehouse(values, context);
  const store = accountStore(warehouse.store, values.account);
  await refuseMissingWarehouse(store, values, context.cwd, "SNAPSHOT_NOT_FOUND");
  const ports = {
    store,
    catalog: warehouse.catalog,
    clock: systemClock,
    random: systemRandom,
    logger: new Display({
      terminal: context.stderr,
      clock: systemClock,
      level: values.logLevel,
    }),
    version: VERSION,
    signal: context.signal,
  };
  const exitCode = reportRun(context, await acceptOrRollback(ports, request), values);
  if (!json) {
    const head = await readHead(store);
    context.stdout.lines(describeHead(head, systemClock.now()));
  }
  return exitCode;
}
