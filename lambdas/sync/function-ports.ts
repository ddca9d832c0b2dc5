// The ports of an invocation, and those of a run in it: log, events and metrics among them.

import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { Context } from "aws-lambda";
import type { Catalog } from "../job/catalog/catalog.ts";
import type { Credentials } from "../job/credentials/credentials.ts";
import type { TokenStore } from "../job/credentials/tokens/token-store.ts";
import { shellWord } from "../job/errors/shown-text.ts";
import { SyncError } from "../job/errors/sync-error.ts";
import type { Proxies } from "../job/network/proxies.ts";
import type { Executions } from "../job/run/hand-over/executions.ts";
import type { BusEvent } from "../job/run/record/run-event.ts";
import { EVENT_SOURCE } from "../job/run/record/run-event.ts";
import type { Progress, RunPorts } from "../job/run/run-ports.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { serviceOpener, type TokenAccess } from "../job/run/service-opener.ts";
import type { Clock } from "../job/runtime/clock.ts";
import type { LogFields, Logger } from "../job/runtime/logger.ts";
import type { Random } from "../job/runtime/random.ts";
import { accountStore, type Store } from "../job/storage/store.ts";
import type { FunctionAccount, FunctionEnvironment } from "./environment.ts";
import { METRIC_DIMENSION, METRICS, type MetricValues } from "./telemetry/metrics.ts";

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
    store: accountStore(store, settings.account),
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
): TokenAccess | undefined {
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

/** Enough to free the lease, write the run log and send metrics and event before Lambda ends the process. */
const CLOSING_MS = 10_000;
/** The same, and to wait for what is in flight. */
const RESERVE_MS = 30_000;

interface TimeLimit extends Disposable {
  readonly timeLeftMs: () => number;
  /** What no request is sent in, and no step begun. */
  readonly reserveMs: number;
  /** Aborts with `INTERRUPTED` shortly before the end. */
  readonly signal: AbortSignal;
}

/** In real time, not by the run's clock: Lambda's limit is in real time. */
export function timeLimit(context: Pick<Context, "getRemainingTimeInMillis">): TimeLimit {
  const timeLeftMs = (): number => context.getRemainingTimeInMillis();
  const limitMs = timeLeftMs();
  const { reserveMs, closingMs } = timeKept(limitMs);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(interrupted()), Math.max(0, limitMs - closingMs));
  return { timeLeftMs, reserveMs, signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** What is kept of a time limit. Half of a short one is for work, too. */
export function timeKept(limitMs: number): { readonly reserveMs: number; readonly closingMs: number } {
  return { reserveMs: Math.min(RESERVE_MS, limitMs / 2), closingMs: Math.min(CLOSING_MS, limitMs / 4) };
}

function interrupted(): SyncError {
  return new SyncError(
    "INTERRUPTED",
    "The time limit of the invocation was reached in the middle of a step. Fetched events are kept: the next start of this run resumes it. If this happens again, the service responds too slowly, or its budget is too small for this many events.",
  );
}

/** A logger whose lines have the ids of the invocation, its account and its run. */
export interface FunctionLog extends Logger {
  /** Replaces the ids of the previous invocation by this one's request id. */
  begin(context: Context): void;
  /** Adds ids to all later lines. */
  about(fields: { readonly account?: string; readonly run_id?: string }): void;
}

export function functionLog(): FunctionLog {
  const logger = new PowertoolsLogger({ serviceName: "brand-events-sync" });
  return {
    begin: (context) => {
      logger.resetKeys();
      logger.addContext(context);
    },
    about: (fields) => logger.appendKeys(fields),
    debug: (message, fields: LogFields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields: LogFields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields: LogFields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields: LogFields = {}) => logger.error(message, { ...fields }),
  };
}

/** Logs once a minute how many events are done, so that a person who follows the log sees progress. */
const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let loggedAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < loggedAtMs + EVERY_MS) return;
    loggedAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}

/** Sends one event, or throws. Performs no retries of its own. */
type SendEvent = (event: BusEvent) => Promise<void>;

interface EventTarget {
  readonly eventBus: string;
  /** Tells the events of two deployments on one bus apart: each has a workgroup of its own. */
  readonly workgroup: string;
}

export function eventBridgeSender(
  client: EventBridgeClient,
  { eventBus, workgroup }: EventTarget,
): SendEvent {
  return async ({ detailType, detail }) => {
    const entry = {
      EventBusName: eventBus,
      Source: EVENT_SOURCE,
      DetailType: detailType,
      Detail: JSON.stringify({ ...detail, workgroup }),
    };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(
      new PutEventsCommand({ Entries: [entry] }),
    );
    // PutEvents returns status 200 for a refused entry.
    if (FailedEntryCount > 0) {
      throw new Error(`the event bus ${eventBus} refused the event: ${Entries[0]?.ErrorCode ?? "unknown"}`);
    }
  };
}

type EmitMetrics = (account: string, values: MetricValues) => void;

/** One log line for each call, with the account as its only dimension; none without values. */
export function cloudWatchMetrics(namespace: string): EmitMetrics {
  const metrics = new Metrics({ namespace });
  metrics.clearDefaultDimensions(); // "service", which alarms would have to name as well
  return (account, values) => {
    const given = entriesOf(METRICS).flatMap(([name, unit]) => {
      const value = values[name];
      return value === undefined ? [] : [{ name, unit, value }];
    });
    if (given.length === 0) return;
    metrics.addDimension(METRIC_DIMENSION, account);
    for (const { name, unit, value } of given) metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}

function entriesOf<Key extends string, Value>(
  object: Readonly<Record<Key, Value>>,
): readonly (readonly [Key, Value])[] {
  const keys: Key[] = [];
  for (const key in object) keys.push(key);
  return keys.map((key) => [key, object[key]] as const);
}
