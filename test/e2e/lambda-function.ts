// A function as Lambda runs it: an execution environment for each concurrent invocation, which is a process that runs the
// handler and its Runtime API; retries of asynchronous ones; and what an invocation returns and logs.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";

export interface InvokeOptions {
  readonly requestId?: string;
  /** Shorter than the function's own, to reach the limit sooner. */
  readonly timeoutMs?: number;
}

export interface DeliveryOptions {
  /** Lambda's own: one minute, then two. */
  readonly retryDelaysMs?: readonly number[];
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
    const { retryDelaysMs = [60_000, 120_000] } = options;
    const requestId = randomUUID();
    const results: InvocationResult[] = [];
    for (let attempt = 0; ; attempt += 1) {
      const result = await this.invoke(event, { requestId });
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

export interface FunctionDefinition {
  readonly name: string;
  /** The folder of the bundle. */
  readonly directory: string;
  /** `index.handler` */
  readonly handler: string;
  /** All variables of the process, besides those that Lambda adds. */
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

export interface Invocation {
  readonly requestId: string;
  readonly event: unknown;
  readonly timeoutMs: number;
}

export type InvocationResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly errorType: string; readonly errorMessage: string };

const BOOTSTRAP = fileURLToPath(new URL("bootstrap.ts", import.meta.url));
const errorSchema = z.object({ errorType: z.string(), errorMessage: z.string() });

/** Takes one invocation at a time; unusable after one that timed out or ended the process. */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
  readonly #server: Server;
  readonly #child: ChildProcess;
  #waiting: ServerResponse | undefined;
  #current: { readonly invocation: Invocation; readonly end: (result: InvocationResult) => void } | undefined;
  #broken: InvocationResult | undefined;

  private constructor(definition: FunctionDefinition, server: Server, onLine: (line: string) => void) {
    this.#definition = definition;
    this.#server = server;
    this.#child = spawn(process.execPath, [`--max-old-space-size=${definition.memoryMb}`, BOOTSTRAP], {
      cwd: definition.directory,
      env: { ...definition.environment, ...lambdaVariables(definition, server) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", onLine);
    }
    server.on("request", (message: IncomingMessage, response: ServerResponse) => {
      void this.#serve(message, response);
    });
    this.#child.once("exit", (code) => {
      this.#break({ ok: false, errorType: "Runtime.ExitError", errorMessage: `the process ended (${code})` });
    });
  }

  static async start(
    definition: FunctionDefinition,
    onLine: (line: string) => void,
  ): Promise<ExecutionEnvironment> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ExecutionEnvironment(definition, server, onLine);
  }

  get isUsable(): boolean {
    return this.#broken === undefined;
  }

  async invoke(invocation: Invocation): Promise<InvocationResult> {
    if (this.#broken) return this.#broken;
    if (this.#current) throw new Error("an execution environment takes one invocation at a time");
    const ended = new Promise<InvocationResult>((end) => {
      this.#current = { invocation, end };
    });
    const seconds = (invocation.timeoutMs / 1000).toFixed(2);
    const timer = setTimeout(() => {
      this.#break({
        ok: false,
        errorType: "Sandbox.Timedout",
        errorMessage: `RequestId: ${invocation.requestId} Error: Task timed out after ${seconds} seconds`,
      });
      this.#child.kill("SIGKILL");
    }, invocation.timeoutMs);
    this.#handOut();
    try {
      return await ended;
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await exited;
    }
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of message.setEncoding("utf8")) text += chunk;
    const path = (message.url ?? "").replace("/2018-06-01/runtime/", "");
    if (path === "invocation/next") {
      this.#waiting = response;
      this.#handOut();
      return;
    }
    response.writeHead(202).end();
    if (path === "init/error") this.#break(failed(text));
    else if (path.endsWith("/response")) this.#end({ ok: true, payload: JSON.parse(text) });
    else if (path.endsWith("/error")) this.#end(failed(text));
  }

  /** Passes the invocation to the process when both are ready. */
  #handOut(): void {
    const response = this.#waiting;
    const invocation = this.#current?.invocation;
    if (response === undefined || invocation === undefined) return;
    this.#waiting = undefined;
    response.writeHead(200, {
      "lambda-runtime-aws-request-id": invocation.requestId,
      "lambda-runtime-deadline-ms": String(Date.now() + invocation.timeoutMs),
      "lambda-runtime-invoked-function-arn": `arn:aws:lambda:eu-west-1:123456789012:function:${this.#definition.name}:live`,
    });
    response.end(JSON.stringify(invocation.event));
  }

  #end(result: InvocationResult): void {
    const current = this.#current;
    this.#current = undefined;
    current?.end(result);
  }

  #break(result: InvocationResult): void {
    this.#broken ??= result;
    this.#end(this.#broken);
  }
}

function failed(text: string): InvocationResult {
  return { ok: false, ...errorSchema.parse(JSON.parse(text)) };
}

function lambdaVariables(definition: FunctionDefinition, server: Server): Record<string, string> {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
    LAMBDA_TASK_ROOT: definition.directory,
    _HANDLER: definition.handler,
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: "1",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: "2026/11/21/[1]0123456789abcdef",
    TZ: ":UTC",
  };
}

const payloadSchema = z.record(z.string(), z.unknown());

/** Throws the error of a failed invocation. */
export function payload(result: InvocationResult): Readonly<Record<string, unknown>> {
  if (result.ok) return payloadSchema.parse(result.payload);
  throw new Error(`the invocation failed: ${result.errorType}: ${result.errorMessage}`);
}

const metricsSchema = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.tuple([
      z.object({ Namespace: z.string(), Dimensions: z.array(z.array(z.string())) }),
    ]),
  }),
  account: z.string(),
});

export interface MetricLine {
  readonly namespace: string;
  readonly dimensions: readonly (readonly string[])[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** The log lines with an account's metrics. */
export function metricLines(lines: readonly string[], account: string): readonly MetricLine[] {
  return jsonLines(lines).flatMap((values) => {
    const parsed = metricsSchema.safeParse(values);
    if (!parsed.success || parsed.data.account !== account) return [];
    const [{ Namespace, Dimensions }] = parsed.data._aws.CloudWatchMetrics;
    return [{ namespace: Namespace, dimensions: Dimensions, values }];
  });
}

/** The lines that are a JSON object. */
export function jsonLines(lines: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  return lines.flatMap((line) => {
    try {
      const parsed = payloadSchema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}
