// What a run works with on a laptop: its warehouse and credentials, this machine, the network.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import type { Progress, RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { type Authorization, serviceOpener } from "../../../lambdas/job/run/service-opener.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import type { RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Wait } from "../../../lambdas/job/service/requests/wait-reporter.ts";
import { isGone, thisProcess } from "./this-process.ts";
import type { Warehouse } from "./warehouse.ts";

export interface LocalRunPortsOptions {
  readonly warehouse: Pick<Warehouse, "store" | "catalog">;
  readonly credentials: Credentials;
  readonly authorization?: Authorization;
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
    store: warehouse.store,
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
