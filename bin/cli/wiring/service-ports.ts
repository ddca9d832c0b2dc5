// What a command that sends requests to the service works with, from its options.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import type { Progress, RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { serviceOpener, type TokenAccess } from "../../../lambdas/job/run/service-opener.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import type { RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Wait } from "../../../lambdas/job/service/requests/sender.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import type { OptionValues } from "../options/options.ts";
import { AUTHORIZE_OPTIONS, type SERVICE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import type { CommandContext, Warehouse } from "./command.ts";
import { openCredentials, openTokens } from "./open-credentials.ts";
import { openWarehouse } from "./open-warehouse.ts";
import { isGone, thisProcess } from "./this-process.ts";

interface ServicePorts {
  readonly ports: RunPorts;
  readonly warehouse: Warehouse;
  readonly credentials: Credentials;
  /** End it before the result is printed. */
  readonly display: Display;
}

/** Reads no credentials yet, and sends nothing. */
export async function servicePorts(
  values: OptionValues<(typeof SERVICE_OPTIONS)[number]>,
  settings: RunSettings,
  context: CommandContext,
): Promise<ServicePorts> {
  const { stderr, signal, proxies } = context;
  const display = new Display({ terminal: stderr, clock: systemClock, level: values.logLevel });
  const warehouse = await openWarehouse(values, context);
  const credentials = await openCredentials(values.credentials, context, display);
  const ports = localRunPorts({
    warehouse,
    credentials,
    authorization: {
      tokens: () => openTokens(values, context, display),
      command: commandLineText(["authorize"], AUTHORIZE_OPTIONS, values),
    },
    settings,
    logger: display,
    onProgress: (progress) => display.progress(progress),
    onWait: (wait) => display.waiting(wait),
    onBudget: (budget) => display.within(budget),
    signal,
    proxies,
  });
  return { ports, warehouse, credentials, display };
}

/** What a run works with on a laptop: its warehouse and credentials, this machine, the network. */
interface LocalRunPortsOptions {
  readonly warehouse: Pick<Warehouse, "store" | "catalog">;
  readonly credentials: Credentials;
  readonly authorization?: TokenAccess;
  readonly settings: RunSettings;
  readonly logger: Logger;
  readonly onProgress: (progress: Progress) => void;
  readonly onWait: (wait: Wait | undefined) => void;
  /** Called with what the requests will be sent within. */
  readonly onBudget?: (budget: RateLimiter) => void;
  readonly signal: AbortSignal;
  readonly proxies: Proxies;
}

export function localRunPorts(options: LocalRunPortsOptions): RunPorts {
  const { warehouse, credentials, authorization, settings, logger, onProgress, onWait, signal, proxies } =
    options;
  const openService = serviceOpener(settings, {
    credentials,
    authorization,
    clock: systemClock,
    random: systemRandom,
    logger,
    onWait,
    proxies,
    version: VERSION,
  });
  return {
    store: accountStore(warehouse.store, settings.account),
    catalog: warehouse.catalog,
    clock: systemClock,
    random: systemRandom,
    logger,
    process: thisProcess(),
    isGone,
    openService: (rateLimiter) => {
      options.onBudget?.(rateLimiter);
      return openService(rateLimiter);
    },
    onProgress,
    version: VERSION,
    signal,
  };
}
