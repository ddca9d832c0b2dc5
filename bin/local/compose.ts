// Puts a run together on a laptop: warehouse and credentials from wherever they are, this machine, the network.

import type { Credentials } from "../../lambdas/credentials/credentials.ts";
import type { Logger } from "../../lambdas/host/logger.ts";
import type { Progress, RunHost, RunSettings } from "../../lambdas/run/run-host.ts";
import { createEventService } from "../../lambdas/service/http-event-service.ts";
import type { Wait } from "../../lambdas/service/waits.ts";
import type { Warehouse } from "./open-warehouse.ts";
import { VERSION } from "./program-version.ts";
import { systemClock } from "./system-clock.ts";
import { systemRandom } from "./system-random.ts";
import { isGone, thisProcess } from "./this-process.ts";

export interface HostOptions {
  readonly warehouse: Pick<Warehouse, "store" | "catalog">;
  readonly credentials: Credentials;
  readonly settings: RunSettings;
  readonly logger: Logger;
  readonly onProgress: (progress: Progress) => void;
  readonly onWait: (wait: Wait | undefined) => void;
  readonly signal: AbortSignal;
}

export function composeHost(options: HostOptions): RunHost {
  const { warehouse, credentials, settings, logger, onProgress, onWait, signal } = options;
  return {
    store: warehouse.store,
    catalog: warehouse.catalog,
    clock: systemClock,
    random: systemRandom,
    logger,
    process: thisProcess(),
    isGone,
    openService: async (budget) => {
      const { baseUrl, isListed, listPointer, detailPointer, concurrency } = settings;
      return createEventService({
        baseUrl,
        credentials: await credentials.read(),
        readCredentials: () => credentials.read(),
        versionOf: (read) => credentials.versionOf?.(read),
        isListed,
        ...(listPointer === undefined ? {} : { listPointer }),
        ...(detailPointer === undefined ? {} : { detailPointer }),
        concurrency,
        budget,
        clock: systemClock,
        random: systemRandom,
        logger,
        onWait,
        version: VERSION,
      });
    },
    onProgress,
    version: VERSION,
    signal,
  };
}
