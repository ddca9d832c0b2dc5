// A start of a run that fails before it is one: its settings are wrong, its credentials are gone, its disk is not there. It is
// told, and it gets a line in the run log of each account that has runs there, so that `status` and the report see it.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isMistake, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { beginAttempt, rowOf } from "../../../lambdas/job/run/record/attempt.ts";
import { failedStartEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { appendRunLog } from "../../../lambdas/job/run/record/run-log.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { rightSettings } from "../../../lambdas/job/settings-file/read-settings.ts";
import type { FileSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { hasRun } from "../../../lambdas/job/storage/known-accounts.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import {
  NOTIFY_OPTIONS,
  type OptionValues,
  SETTINGS_FILE,
  type SettingsFile,
  WAREHOUSE_OPTIONS,
} from "../options/options.ts";
import { type GivenOptions, settingsFile } from "../options/read-options.ts";
import { NEXT_OPTIONS } from "../output/next-command.ts";
import { notify } from "../output/notify.ts";
import type { FailedStart } from "../wiring/command.ts";
import { openWarehouse } from "../wiring/open-warehouse.ts";

/** Never throws: whatever happens here changes neither the outcome nor the exit code. */
export async function tellFailedStart(error: unknown, start: FailedStart): Promise<void> {
  const { signal, stdin, isFileRight } = start;
  if (signal.aborted) return;
  const given = isFileRight ? start.given : withRightFile(start.given);
  const { account, all } = accountsOf(given);
  const own = account === undefined ? given : given.ofAccount(account);
  // A command repeats nothing of a file that is read again.
  const isOfFile =
    given.readRight(["config"]).config !== undefined && !(isFileRight && account !== undefined);
  const next = isOfFile ? NEXT_OPTIONS.filter((name) => name === "config" || own.has(name)) : NEXT_OPTIONS;
  const values = own.readRight([...next, ...NOTIFY_OPTIONS, "dryRun"]);
  const told = error instanceof SyncError ? error.next : [];
  await notify(async () => ({ event: failedStartEvent(account ?? null, error), next: told }), {
    ...start,
    values: account === undefined ? { ...values, ...given.readRight(["all"]) } : values,
    random: systemRandom,
  });
  const isTyped = stdin().isTTY === true && isMistake(error);
  if (!(error instanceof SyncError) || isTyped || values.dryRun === true) return;
  // Nothing is written where the disk is not there.
  if (error.code === "STORE_FAILED") return;
  for (const each of all) {
    const place = given.ofAccount(each).readRight(WAREHOUSE_OPTIONS);
    if (!isFileRight && !namesWarehouse(given, each, place)) continue;
    await abortable(record(each, place, error, start), signal).catch(() => undefined);
  }
}

function withRightFile(given: GivenOptions): GivenOptions {
  try {
    return given.withFile(rightFile);
  } catch {
    return given; // the option itself is no path
  }
}

/** What is right of a settings file that is wrong, in place of `openSettingsFile`. Undefined where no file is named, and none is there. Throws nothing. */
function rightFile(named: string | undefined, cwd: string): SettingsFile | undefined {
  const title = named ?? SETTINGS_FILE;
  const path = resolve(cwd, title);
  const found = rightSettings(path);
  if (found === undefined && named === undefined && !existsSync(path)) return undefined;
  return settingsFile(path, title, (found ?? { accounts: {} }) as FileSettings);
}

interface Accounts {
  /** The one that the start is of, as far as it says it. */
  readonly account?: string;
  /** The accounts that the start would have worked on. */
  readonly all: readonly string[];
}

function accountsOf(given: GivenOptions): Accounts {
  const { account } = given.readRight(["account"]);
  if (account !== undefined) return { account, all: [account] };
  if (given.has("account")) return { all: [] };
  const { config, all } = given.readRight(["config", "all"]);
  // Where no file names accounts, the one without a name.
  if (config === undefined) return all ? { all: [] } : { account: "default", all: ["default"] };
  if (all) return { all: config.accounts };
  const [only, ...others] = config.accounts;
  return only === undefined || others.length > 0 ? { all: [] } : { account: only, all: [only] };
}

/** A file that is misspelt may have misspelt its warehouse: then nothing is written into the one that is the default. */
function namesWarehouse(
  given: GivenOptions,
  account: string,
  { config }: Partial<OptionValues<"config">>,
): boolean {
  const { warehouse } = { ...config?.settings, ...config?.settings.accounts[account] };
  return given.has("warehouse") || warehouse !== undefined;
}

/** Nowhere else: a typing mistake makes no account. */
async function record(
  account: string,
  { warehouse, database }: Partial<OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>>,
  error: SyncError,
  { proxies, stderr, clock }: FailedStart,
): Promise<void> {
  if (warehouse === undefined || database === undefined) return;
  const opened = await openWarehouse({ config: undefined, warehouse, database }, { proxies, stderr });
  const store = accountStore(opened.store, account);
  if (!(await hasRun(store))) return;
  const attempt = beginAttempt(clock, "manual");
  await appendRunLog(store, rowOf({ clock, version: VERSION }, attempt, { error }));
}
