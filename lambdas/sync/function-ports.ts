// The ports of an invocation, and those of a run in it.

import type { Catalog } from "../job/catalog/catalog.ts";
import type { Credentials } from "../job/credentials/credentials.ts";
import type { TokenStore } from "../job/credentials/tokens/token-store.ts";
import { shellWord } from "../job/errors/shell-word.ts";
import type { Proxies } from "../job/network/proxies.ts";
import type { Executions } from "../job/run/hand-over/executions.ts";
import type { RunPorts } from "../job/run/run-ports.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { type Authorization, serviceOpener } from "../job/run/service-opener.ts";
import type { Clock } from "../job/runtime/clock.ts";
import type { Random } from "../job/runtime/random.ts";
import type { Store } from "../job/storage/store.ts";
import type { FunctionAccount, FunctionEnvironment } from "./environment.ts";
import type { EmitMetrics } from "./telemetry/cloudwatch-metrics.ts";
import type { FunctionLog } from "./telemetry/function-log.ts";
import { progressLog } from "./telemetry/progress-log.ts";
import type { SendEvent } from "./telemetry/send-event.ts";
import type { TimeLimit } from "./time-limit.ts";

/** Everything impure that an invocation touches. */
export interface FunctionPorts {
  readonly environment: FunctionEnvironment;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly credentials: (secretId: string) => Credentials;
  readonly tokens: (secretId: string) => TokenStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: FunctionLog;
  readonly metrics: EmitMetrics;
  readonly sendEvent: SendEvent;
  readonly version: string;
  readonly proxies: Proxies;
  /** Undefined in a deployment without a state machine. */
  readonly executions?: Executions | undefined;
}

export function functionRunPorts(
  ports: FunctionPorts,
  account: Pick<FunctionAccount, "secretId" | "tokensSecretId" | "authUrl">,
  settings: RunSettings,
  { signal, timeLeftMs, reserveMs }: TimeLimit,
  requestId: string,
): RunPorts {
  const { store, catalog, clock, random, log, version } = ports;
  return {
    store,
    catalog,
    clock,
    random,
    logger: log,
    // A process of Lambda cannot tell whether another one still exists, so a start waits for the lease.
    process: {},
    isGone: () => false,
    openService: serviceOpener(settings, {
      credentials: ports.credentials(account.secretId),
      authorization: authorizationOf(account, ports.tokens),
      clock,
      random,
      logger: log,
      version,
      proxies: ports.proxies,
    }),
    onProgress: progressLog(log, clock),
    version,
    requestId,
    signal,
    timeLeftMs,
    reserveMs,
    executions: ports.executions,
  };
}

/** Undefined for an account without an identity provider. */
function authorizationOf(
  { secretId, tokensSecretId, authUrl }: Pick<FunctionAccount, "secretId" | "tokensSecretId" | "authUrl">,
  open: FunctionPorts["tokens"],
): Authorization | undefined {
  if (authUrl === undefined || tokensSecretId === undefined) return undefined;
  const options = {
    "--auth-url": authUrl,
    "--credentials": `secretsmanager:${secretId}`,
    "--tokens": `secretsmanager:${tokensSecretId}`,
  };
  return {
    tokens: async () => open(tokensSecretId),
    command: ["npm run sync -- authorize", ...Object.entries(options).flat().map(shellWord)].join(" "),
  };
}
