// What a command that sends requests to the service works with, from its options.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { AUTHORIZE_OPTIONS, type SERVICE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { Display } from "../output/display.ts";
import type { CommandContext } from "./command-context.ts";
import { localRunPorts } from "./local-run-ports.ts";
import { openCredentials } from "./open-credentials.ts";
import { openTokens } from "./open-tokens.ts";
import { openWarehouse } from "./open-warehouse.ts";
import type { Warehouse } from "./warehouse.ts";

export interface ServicePorts {
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
