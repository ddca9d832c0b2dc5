// A function as Lambda runs it: an execution environment for each concurrent invocation, retries of asynchronous ones.

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  ExecutionEnvironment,
  type FunctionDefinition,
  type InvocationResult,
} from "./execution-environment.ts";

export interface InvokeOptions {
  readonly requestId?: string;
  /** Shorter than the function's own, to reach the limit sooner. */
  readonly timeoutMs?: number;
}

export interface DeliveryOptions {
  /** Lambda's own: one minute, then two. */
  readonly retryDelaysMs?: readonly number[];
  /** Of each attempt; the last one counts for all further ones. */
  readonly timeoutsMs?: readonly number[];
}

export class LambdaFunction implements AsyncDisposable {
  readonly definition: FunctionDefinition;
  /** The output of its processes. */
  readonly lines: string[] = [];
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #all = new Set<ExecutionEnvironment>();

  constructor(definition: FunctionDefinition) {
    this.definition = definition;
  }

  /** As the console's Test button and `RequestResponse` do: once. */
  async invoke(event: unknown, options: InvokeOptions = {}): Promise<InvocationResult> {
    const { requestId = randomUUID(), timeoutMs = this.definition.timeoutMs } = options;
    const environment = this.#idle.pop() ?? (await this.#start());
    const result = await environment.invoke({ requestId, event, timeoutMs });
    if (environment.isUsable) this.#idle.push(environment);
    return result;
  }

  /** As a schedule does: a failed attempt is retried with the same request id. Returns every attempt's result. */
  async deliver(event: unknown, options: DeliveryOptions = {}): Promise<readonly InvocationResult[]> {
    const { retryDelaysMs = [60_000, 120_000], timeoutsMs = [] } = options;
    const requestId = randomUUID();
    const results: InvocationResult[] = [];
    for (let attempt = 0; ; attempt += 1) {
      const timeoutMs = timeoutsMs[Math.min(attempt, timeoutsMs.length - 1)] ?? this.definition.timeoutMs;
      const result = await this.invoke(event, { requestId, timeoutMs });
      results.push(result);
      const delayMs = retryDelaysMs[attempt];
      if (result.ok || delayMs === undefined) return results;
      await delay(delayMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all].map((environment) => environment.stop()));
  }

  async #start(): Promise<ExecutionEnvironment> {
    const environment = await ExecutionEnvironment.start(this.definition, (line) => this.lines.push(line));
    this.#all.add(environment);
    return environment;
  }
}
