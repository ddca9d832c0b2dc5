// What a command that talks to the service works with, from its options.

import type { Credentials } from "../../lambdas/credentials/credentials.ts";
import type { RunHost, RunSettings } from "../../lambdas/run/run-host.ts";
import type { Output } from "./command.ts";
import { composeHost } from "./compose.ts";
import { Display } from "./display.ts";
import { openCredentials } from "./open-credentials.ts";
import { openWarehouse, type Warehouse } from "./open-warehouse.ts";
import type { OptionValues } from "./options.ts";
import type { SERVICE_OPTIONS } from "./run-settings.ts";
import { systemClock } from "./system-clock.ts";

export interface ServiceHost {
  readonly host: RunHost;
  readonly warehouse: Warehouse;
  readonly credentials: Credentials;
  /** To be ended before the result is printed. */
  readonly display: Display;
}

/** Reads no credentials yet, and sends nothing. */
export async function serviceHost(
  values: OptionValues<(typeof SERVICE_OPTIONS)[number]>,
  settings: RunSettings,
  { stderr, signal }: Output,
): Promise<ServiceHost> {
  const { requestsPerMinute } = settings;
  const display = new Display({ terminal: stderr, clock: systemClock, requestsPerMinute });
  const warehouse = await openWarehouse(values);
  const credentials = await openCredentials(values.credentials, display);
  const host = composeHost({
    warehouse,
    credentials,
    settings,
    logger: display,
    onProgress: (progress) => display.progress(progress),
    onWait: (wait) => display.waiting(wait),
    signal,
  });
  return { host, warehouse, credentials, display };
}
