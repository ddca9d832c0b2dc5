// Puts a run together from the laptop's adapters: a directory, SQL views, a credentials file, the network.

import { resolve } from "node:path";
import type { Credentials } from "../../lambdas/credentials/credentials.ts";
import type { Logger } from "../../lambdas/host/logger.ts";
import type { Progress, RunHost, RunSettings } from "../../lambdas/run/run-host.ts";
import { createEventService } from "../../lambdas/service/http-event-service.ts";
import type { Wait } from "../../lambdas/service/waits.ts";
import type { Store } from "../../lambdas/storage/store.ts";
import { DirectoryStore } from "./directory-store.ts";
import { VERSION } from "./program-version.ts";
import { SqlViews } from "./sql-views.ts";
import { systemClock } from "./system-clock.ts";
import { systemRandom } from "./system-random.ts";
import { isGone, thisProcess } from "./this-process.ts";

export interface Warehouse {
  readonly store: Store;
  readonly views: SqlViews;
}

export function openWarehouse(path: string): Warehouse {
  const directory = resolve(path);
  const store = new DirectoryStore({ directory, random: systemRandom });
  return { store, views: new SqlViews({ store, directory }) };
}

export interface HostOptions {
  readonly warehouse: Warehouse;
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
    catalog: warehouse.views,
    clock: systemClock,
    random: systemRandom,
    logger,
    process: thisProcess,
    isGone,
    openService: async (budget) => {
      const { baseUrl, isListed, listPointer, detailPointer, concurrency } = settings;
      return createEventService({
        baseUrl,
        credentials: await credentials.read(),
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
