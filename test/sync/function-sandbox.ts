// The ports of an invocation in memory, and the simulated service.

import { gunzipSync, gzipSync } from "node:zlib";
import type { Context } from "aws-lambda";
import type { ServiceCredentials } from "../../lambdas/job/credentials/credentials.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import type { BusEvent } from "../../lambdas/job/run/record/run-event.ts";
import { systemRandom } from "../../lambdas/job/runtime/clock.ts";
import type { AccountSettings } from "../../lambdas/job/settings-file/settings-schema.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { environmentOf, functionFileText, readEnvironment } from "../../lambdas/sync/environment.ts";
import type { FunctionPorts } from "../../lambdas/sync/function-ports.ts";
import { handleRequest } from "../../lambdas/sync/handle-request.ts";
import type { MetricValues } from "../../lambdas/sync/telemetry.ts";
import { MemoryCatalog } from "../job/catalog/memory-catalog.ts";
import { MemoryTokenStore, TokenPlace } from "../job/credentials/tokens/memory-token-store.ts";
import { MemoryExecutions } from "../job/run/hand-over/memory-executions.ts";
import { LogLines } from "../job/runtime/log-lines.ts";
import { MemoryStore } from "../job/storage/memory-store.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import type { SimulatorOptions } from "../simulator/settings.ts";
import { Simulator } from "../simulator/simulator.ts";

type FunctionLog = FunctionPorts["logger"];

/** Keeps lines, and the ids that they would have. */
class MemoryLog extends LogLines implements FunctionLog {
  readonly known: Record<string, unknown> = {};

  begin({ awsRequestId }: Context): void {
    for (const key of Object.keys(this.known)) delete this.known[key];
    this.known["request_id"] = awsRequestId;
  }

  about(fields: Parameters<FunctionLog["about"]>[0]): void {
    Object.assign(this.known, fields);
  }
}

export class FunctionSandbox implements AsyncDisposable {
  readonly simulator: Simulator;
  readonly clock = acceleratedClock(100);
  readonly store = new MemoryStore(this.clock);
  readonly catalog = new MemoryCatalog(this.store);
  readonly log = new MemoryLog();
  readonly metrics: { readonly account: string; readonly values: MetricValues }[] = [];
  readonly events: BusEvent[] = [];
  credentials: ServiceCredentials;
  /** What the account's second secret holds. */
  tokens = new TokenPlace();
  /** The version of the secret: a test that changes the credentials changes it too. */
  credentialsVersion = "version-1";
  sendEvent: FunctionPorts["sendEvent"] = async (event) => {
    this.events.push(event);
  };
  /** In milliseconds: what Lambda reports. */
  timeLeft = (): number => 900_000;
  readonly executions = new MemoryExecutions();
  #requests = 0;
  #account: Partial<AccountSettings>;

  private constructor(simulator: Simulator, account: Partial<AccountSettings>) {
    this.simulator = simulator;
    this.credentials = { method: "session", ...simulator.credentials };
    this.#account = account;
  }

  static async start(
    service: SimulatorOptions = {},
    account: Partial<AccountSettings> = {},
  ): Promise<FunctionSandbox> {
    return new FunctionSandbox(await Simulator.start(service), account);
  }

  /** A new invocation; `changes` replaces some of its ports. */
  invoke(event: unknown, changes: Partial<FunctionPorts> = {}): Promise<object> {
    this.#requests += 1;
    return this.retry(event, changes);
  }

  /** As Lambda delivers an asynchronous invocation once more: with its request id, by default that of the last one. */
  retry(
    event: unknown,
    changes: Partial<FunctionPorts> = {},
    requestId: string = this.requestId,
  ): Promise<object> {
    const logger = changes.logger ?? this.log;
    return handleRequest(() => ({ ...this.#ports(), ...changes }), logger, event, this.#context(requestId));
  }

  /** Of the last invocation. */
  get requestId(): string {
    return `request-${this.#requests}`;
  }

  /** As if a version with plans of another format had begun the run. */
  async planByOtherVersion(runId: string): Promise<void> {
    const key = layout("uk").plan(runId);
    const plan = gunzipSync((await this.store.read(key))?.bytes ?? "").toString();
    this.store.put(key, gzipSync(plan.replace(/"version":\d+/, '"version":1000')));
  }

  #ports(): FunctionPorts {
    const { store, catalog, clock, log: logger } = this;
    const uk = {
      baseUrl: this.simulator.url,
      requestsPerMinute: "unlimited",
    } as const;
    const variables = environmentOf({
      bucket: "bucket",
      bucketOwner: "123456789012",
      database: "brand_events",
      workgroup: "analysis",
      metricNamespace: "BrandEventsSync",
      stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:Stack",
      secretName: "secret-of-{account}",
      tokensSecretName: "tokens-of-{account}",
      program: "npx brand-events-sync",
    });
    const file = functionFileText({
      accounts: { uk: { ...uk, bytesPerMinute: "unlimited", ...this.#account } },
    });
    return {
      environment: readEnvironment(variables, file),
      store,
      catalog,
      credentials: () => ({
        read: async () => this.credentials,
        versionOf: () => this.credentialsVersion,
      }),
      tokens: () => new MemoryTokenStore(this.tokens, clock, true),
      clock,
      random: systemRandom,
      logger,
      metrics: (account, values) => this.metrics.push({ account, values }),
      sendEvent: (event) => this.sendEvent(event),
      version: "0.0.0",
      proxies: readProxies({}),
    };
  }

  #context(awsRequestId: string): Context {
    return {
      callbackWaitsForEmptyEventLoop: true,
      functionName: "sync",
      functionVersion: "1",
      invokedFunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:sync:live",
      memoryLimitInMB: "1769",
      awsRequestId,
      logGroupName: "/aws/lambda/sync",
      logStreamName: "stream",
      getRemainingTimeInMillis: () => this.timeLeft(),
      done: () => undefined,
      fail: () => undefined,
      succeed: () => undefined,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.simulator.stop();
  }
}

// Two days of the schedule, so recent that what they leave behind is not deleted.

const DAY_MS = 86_400_000;

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
export const SCHEDULED_AT = daysAgo(2);
export const NEXT_DAY = daysAgo(1);
/** The run of `SCHEDULED_AT`. */
export const RUN = SCHEDULED_AT.replaceAll(":", "-");
/** The run of `NEXT_DAY`. */
export const NEXT_RUN = NEXT_DAY.replaceAll(":", "-");
