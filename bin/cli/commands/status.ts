// `status`: when the data is from, which run is active, what is held and why, what the last runs did; of one account or
// of all.

import { type AccountStatus, statusOfAll } from "../../../lambdas/job/run/status.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { knownAccounts, orDamage } from "../../../lambdas/job/storage/known-accounts.ts";
import { readHead } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { PLACE_OPTIONS, WAREHOUSE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { heldJson } from "../output/describe-held.ts";
import { describeStatus, statusTable, tooOld } from "../output/describe-status.ts";
import { EXIT } from "../output/exit-code.ts";
import type { Output } from "../output/output.ts";
import { formatTable } from "../output/table.ts";
import { whereText } from "../output/where.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { damagedAccountText, openWarehouse, refuseUnknownAccount } from "../wiring/open-warehouse.ts";
import type { CommandSpec } from "./command.ts";
import { warehouseAccounts } from "./each-account.ts";

const OPTIONS = [...PLACE_OPTIONS, "maxAge", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const statusCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "status",
  summary:
    "show how old the data is, what is held and what the last runs did; without --account for all accounts",
  options: OPTIONS,
  ofAll: true,
  example: "status --account uk",
  execute: async (values, context) => {
    const nowMs = systemClock.now();
    const { store } = await openWarehouse(values, context);
    const isOne = context.isGiven("account");
    const found = isOne
      ? [await statusOfOne(store, values, nowMs)]
      : await statusOfAll(store, await warehouseAccounts(store, values, context), nowMs);
    if (values.json) {
      const objects = found.map((one) => asJson(one, values));
      context.stdout.json(isOne ? objects[0] : { accounts: objects });
    } else print(context, found, nowMs, values);
    if (isOne) await nameDamaged(accountStore(store, values.account), context);
    return report(context, found, nowMs, values);
  },
};

async function statusOfOne(store: Store, { account, config }: Values, nowMs: number): Promise<AccountStatus> {
  const [found] = await statusOfAll(store, [account], nowMs);
  if (found === undefined) throw new Error("the account has no status");
  if ("damage" in found) throw found.damage;
  const { head, lease, held, runs } = found;
  const isUnknown = !head && !lease && held.length + runs.length === 0;
  if (isUnknown && !config?.accounts.includes(account))
    await refuseUnknownAccount(accountStore(store, account));
  return found;
}

/** Of the others only the log is looked at. */
async function nameDamaged(store: AccountStore, { stderr }: Output): Promise<void> {
  for (const other of await knownAccounts(store)) {
    if (other === store.account) continue;
    const head = await orDamage(other, () => readHead(accountStore(store, other)));
    if (head && "damage" in head) stderr.message(damagedAccountText(head));
  }
}

function asJson(one: AccountStatus, values: Values): object {
  if ("damage" in one) {
    const { code, message } = one.damage;
    return { account: one.account, error_code: code, error_message: message };
  }
  const { account, head, lease, held, runs } = one;
  const isPinned = head?.pinned === true;
  return {
    account,
    head,
    lease,
    held: held.map(({ snapshotId }) => snapshotId),
    ...(held.length === 0
      ? {}
      : { held_snapshots: held.map((each) => heldJson({ ...each, isPinned }, { ...values, account })) }),
    runs,
  };
}

/** A warehouse with one account is described as that account is. */
function print(
  { stdout, valuesFor }: CommandContext,
  found: readonly AccountStatus[],
  nowMs: number,
  values: Values,
): void {
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) {
    const { account } = only;
    const limit = valuesFor(["requestsPerMinute"], account);
    if (!("damage" in only)) stdout.lines(describeStatus(only, nowMs, { ...values, ...limit, account }));
    return;
  }
  stdout.text(formatTable(statusTable(found, nowMs), { maxWidth: 80 }));
  const words = ["status", "--account", only?.account ?? ""];
  stdout.lines([
    `In ${whereText(values)}`,
    `One account with its last runs: ${commandLineText(words, WAREHOUSE_OPTIONS, values)}`,
  ]);
}

/** Damage weighs more than age. */
function report({ stderr }: Output, found: readonly AccountStatus[], nowMs: number, values: Values): number {
  const damaged = found.filter((one) => "damage" in one);
  for (const { account, damage } of damaged) {
    stderr.message(`${damage.code}: the account ${account}: ${damage.message}`);
  }
  const old = tooOld(found, values.maxAge, nowMs);
  if (old !== undefined) stderr.message(old);
  if (damaged.length > 0) return EXIT.failed;
  return old === undefined ? EXIT.done : EXIT.tooOld;
}
