// Turns a run's settings into a client of the service: the only place that does.

import type { Credentials } from "../credentials/credentials.ts";
import type { Proxies } from "../network/proxies.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Random } from "../runtime/random.ts";
import type { Transport } from "../service/http/transport.ts";
import { createEventService } from "../service/http-event-service.ts";
import type { OnWait } from "../service/requests/wait-reporter.ts";
import type { RunPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";

export interface ServicePorts {
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  readonly onWait?: OnWait;
  readonly proxies?: Proxies;
  /** Of one attempt: connect, headers and body. */
  readonly timeoutMs?: number;
  /** Default: the network. */
  readonly transport?: Transport;
}

/** How a run with these settings opens the service. The credentials are read each time it does. */
export function serviceOpener(settings: RunSettings, ports: ServicePorts): RunPorts["openService"] {
  const { baseUrl, isListed, listPointer, detailPointer, concurrency } = settings;
  const { credentials, ...others } = ports;
  return async (rateLimiter) =>
    createEventService({
      ...others,
      baseUrl,
      isListed,
      listPointer,
      detailPointer,
      concurrency,
      rateLimiter,
      credentials: await credentials.read(),
      readCredentials: () => credentials.read(),
      versionOf: (read) => credentials.versionOf?.(read),
    });
}
