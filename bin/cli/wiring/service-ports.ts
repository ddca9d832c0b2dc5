// What a command that talks to the service works with, from its options.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { RunPorts, RunSettings } from "../../../lambdas/job/run/run-ports.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import type { SERVICE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { Display } from "../output/display.ts";
import type { CommandContext } from "./command-context.ts";
import { composeHost } from "./compose.ts";
import { openCredentials } from "./open-credentials.ts";
import { openWarehouse } from "./open-warehouse.ts";
import type { Warehouse } from "./warehouse.ts";

export interface ServiceHost {
  readonly host: RunPorts;
  readonly warehouse: Warehouse;
  readonly credentials: Credentials;
  /** To be ended before the result is printed. */
  readonly display: Display;
}

/** Reads no credentials yet, and sends nothing. */
export async function serviceHost(
  values: OptionValues<(typeof SERVICE_OPTIONS)[number]>,
  settings: RunSettings,
  { stderr, signal, cwd }: CommandContext,
): Promise<ServiceHost> {
  const { requestsPerMinute } = settings;
  const display = new Display({ terminal: stderr, clock: systemClock, requestsPerMinute });
  const warehouse = await openWarehouse(values, cwd);
  const credentials = await openCredentials(values.credentials, cwd, display);
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
