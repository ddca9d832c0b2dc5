// The ports of an invocation, and its own adapters: log, events and metrics.

import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { Context } from "aws-lambda";
import type { Credentials } from "../job/credentials/credentials.ts";
import type { TokenStore } from "../job/credentials/tokens/token-store.ts";
import type { Proxies } from "../job/network/proxies.ts";
import { type BusEvent, EVENT_SOURCE } from "../job/run/record/run-event.ts";
import type { HostPorts, RunPorts, WarehousePorts, WorldPorts } from "../job/run/run-ports.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { LogFields, Logger } from "../job/runtime/logger.ts";
import type { Store } from "../job/storage/store.ts";
import type { Style } from "../words/style.ts";
import type { FunctionEnvironment } from "./environment.ts";
import { METRIC_DIMENSION, METRICS, type MetricValues } from "./telemetry.ts";

/** Everything impure that an invocation touches. */
export interface FunctionPorts
  extends WorldPorts,
    Pick<WarehousePorts, "catalog">,
    Pick<HostPorts, "executions"> {
  readonly environment: FunctionEnvironment;
  readonly store: Store;
  readonly logger: FunctionLog;
  readonly credentials: (secretId: string) => Credentials;
  readonly tokens: (secretId: string) => TokenStore;
  readonly metrics: (account: string, values: MetricValues) => void;
  /** Sends one event, or throws. Performs no retries of its own. */
  readonly sendEvent: (event: BusEvent) => Promise<void>;
  readonly proxies: Proxies;
}

/** An invocation for one account. */
export interface Invocation {
  readonly ports: FunctionPorts;
  /** The ports of a run in this invocation. */
  readonly host: RunPorts;
  readonly settings: RunSettings;
  /** How settings and commands are spelled in its answers and logs. */
  readonly style: Style;
  readonly context: Context;
}

/** A logger whose lines have the ids of the invocation, its account and its run. */
interface FunctionLog extends Logger {
  /** Replaces the ids of the previous invocation by this one's request id. */
  begin(context: Context): void;
  /** Adds ids to all later lines. */
  about(fields: { readonly account?: string; readonly run_id?: string }): void;
}

export function functionLog(): FunctionPorts["logger"] {
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

/** @param workgroup tells the events of two deployments apart */
export function eventBridgeSender(client: EventBridgeClient, workgroup: string): FunctionPorts["sendEvent"] {
  return async ({ detailType, detail }) => {
    const entry = {
      EventBusName: "default",
      Source: EVENT_SOURCE,
      DetailType: detailType,
      Detail: JSON.stringify({ ...detail, workgroup }),
    };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(
      new PutEventsCommand({ Entries: [entry] }),
    );
    // PutEvents returns status 200 for a refused entry.
    if (FailedEntryCount > 0) {
      throw new Error(`the event bus refused the event: ${Entries[0]?.ErrorCode ?? "unknown"}`);
    }
  };
}

/** One log line for each call, with the account as its only dimension; none without values. */
export function cloudWatchMetrics(namespace: string): FunctionPorts["metrics"] {
  const metrics = new Metrics({ namespace });
  metrics.clearDefaultDimensions(); // "service", which alarms would have to name as well
  return (account, values) => {
    const given = new Map(Object.entries(values));
    const sent = Object.entries(METRICS).flatMap(([name, unit]) => {
      const value = given.get(name);
      return value === undefined ? [] : [{ name, unit, value }];
    });
    if (sent.length === 0) return;
    metrics.addDimension(METRIC_DIMENSION, account);
    for (const { name, unit, value } of sent) metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}
