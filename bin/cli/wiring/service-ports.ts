// What a command that sends requests to the service works with, from its options.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { serviceOpener } from "../../../lambdas/job/run/open-account.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import { type RunSettings, runSettings } from "../../../lambdas/job/run/run-settings.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { wordsIn } from "../../../lambdas/words/hold.ts";
import {
  type OptionValues,
  type RUN_OPTIONS,
  type SERVICE_OPTIONS,
  SETTINGS_FILE,
} from "../options/options.ts";
import { PROGRAM_NAME } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import type { CommandContext, Warehouse } from "./command.ts";
import { openCredentials, openTokens, openWarehouse } from "./open-warehouse.ts";
import { isGone, thisProcess } from "./this-process.ts";

/** What a run works with; it alone has the options of a run. */
type ServiceValues = OptionValues<(typeof SERVICE_OPTIONS)[number]> &
  Partial<OptionValues<(typeof RUN_OPTIONS)[number]>>;

interface ServiceWork {
  readonly ports: RunPorts;
  readonly settings: RunSettings;
  readonly warehouse: Warehouse;
  /** Not read yet. */
  readonly credentials: Credentials;
}

/** How long a start without a terminal waits for a server that gives no response at all, all accounts together. */
const KEEP_TRYING_MS = 10 * 60_000;

/**
 * Sends nothing itself. Progress is shown until the work ends: then its result can be printed.
 * @param isUnattended no person started this
 */
export async function withService<T>(
  values: ServiceValues,
  context: CommandContext,
  work: (using: ServiceWork) => Promise<T>,
  isUnattended = false,
): Promise<T> {
  const settings = givenSettings(values, context.cwd);
  const { stderr, clock, signal, proxies } = context;
  const display = new Display({ terminal: stderr, clock, level: values.logLevel });
  const warehouse = await openWarehouse(values, context);
  const credentials = await openCredentials(values.credentials, context, display);
  const shared = { clock, random: systemRandom, logger: display, version: VERSION };
  const openService = serviceOpener(settings, {
    ...shared,
    credentials,
    tokens: () => openTokens(values, context, display),
    onWait: (wait) => display.waiting(wait),
    keepTryingUntilMs: isUnattended ? context.startedAtMs + KEEP_TRYING_MS : undefined,
    proxies,
  });
  const ports: RunPorts = {
    ...shared,
    store: accountStore(warehouse.store, values.account),
    words: wordsIn(context.style),
    catalog: warehouse.catalog,
    process: thisProcess(),
    isGone,
    openService: (rateLimiter, hasWorked) => {
      display.within(rateLimiter);
      return openService(rateLimiter, hasWorked);
    },
    onProgress: (progress) => display.progress(progress),
    isUnattended,
    signal,
  };
  return work({ ports, settings, warehouse, credentials }).finally(() => display.end());
}

/** Throws `CONFIG_INVALID` when the base URL is missing, or the settings file does not have the account. */
export function givenSettings(values: ServiceValues, cwd: string): RunSettings {
  const { account, baseUrl, config, lifted = [] } = values;
  if (config && !config.accounts.includes(account)) {
    // A typing error would publish a whole snapshot under a wrong name.
    throw new SyncError(
      "CONFIG_INVALID",
      `${config.title} has no account ${account}. Its accounts are: ${config.accounts.join(", ")}. Check --account, or add it to the file.`,
    );
  }
  if (baseUrl === undefined) {
    const how =
      config === undefined
        ? `give --base-url https://… or set BRAND_BASE_URL. There is no ${SETTINGS_FILE} in ${cwd}; init asks for all that is needed, and writes it: ${PROGRAM_NAME} init`
        : `write it into ${config.title} as "baseUrl".`;
    throw new SyncError("CONFIG_INVALID", `The address of the service is missing: ${how}`);
  }
  const isUsed = ([key]: readonly [string, unknown]): boolean => Object.hasOwn(accountSettings.shape, key);
  const used = Object.fromEntries(Object.entries(values).filter(isUsed));
  return runSettings(accountSettings.parse(used), lifted);
}
