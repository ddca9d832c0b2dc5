// What a command that sends requests to the service works with, from its options.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { serviceOpener } from "../../../lambdas/job/run/service-opener.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { AUTHORIZE_OPTIONS, givenSettings, type ServiceValues } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import type { CommandContext, Warehouse } from "./command.ts";
import { openCredentials, openTokens } from "./open-credentials.ts";
import { openWarehouse } from "./open-warehouse.ts";
import { isGone, thisProcess } from "./this-process.ts";

interface ServiceWork {
  readonly ports: RunPorts;
  readonly settings: RunSettings;
  readonly warehouse: Warehouse;
  /** Not read yet. */
  readonly credentials: Credentials;
  readonly logger: Logger;
}

/** Sends nothing itself. Progress is shown until the work ends: then its result can be printed. */
export async function withService<T>(
  values: ServiceValues,
  context: CommandContext,
  work: (using: ServiceWork) => Promise<T>,
): Promise<T> {
  const settings = givenSettings(values);
  const { stderr, signal, proxies } = context;
  const display = new Display({ terminal: stderr, clock: systemClock, level: values.logLevel });
  const warehouse = await openWarehouse(values, context);
  const credentials = await openCredentials(values.credentials, context, display);
  const shared = { clock: systemClock, random: systemRandom, logger: display, version: VERSION };
  const openService = serviceOpener(settings, {
    ...shared,
    credentials,
    authorization: {
      tokens: () => openTokens(values, context, display),
      command: commandLineText(["authorize"], AUTHORIZE_OPTIONS, values),
    },
    onWait: (wait) => display.waiting(wait),
    proxies,
  });
  const ports: RunPorts = {
    ...shared,
    store: accountStore(warehouse.store, settings.account),
    catalog: warehouse.catalog,
    process: thisProcess(),
    isGone,
    openService: (rateLimiter) => {
      display.within(rateLimiter);
      return openService(rateLimiter);
    },
    onProgress: (progress) => display.progress(progress),
    signal,
  };
  return work({ ports, settings, warehouse, credentials, logger: display }).finally(() => display.end());
}
