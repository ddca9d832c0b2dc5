// The state machines of the emulator (moto), with a function that a test gives, and waits that are noted, not waited for.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";
import { EmulatorProcess } from "../aws/emulator-process.ts";
import type { TaskResult } from "./execution.ts";
import type { Work } from "./machine.ts";

const ROLE = "arn:aws:iam::123456789012:role/machine";

/** Docker would be needed for a function, and real time for a wait: both go to the test instead. Jitter is half. */
const prelude = (desk: string): string => `
import json, time, urllib.request
from moto.core.config import default_user_config
from moto.stepfunctions.parser.asl.component.common.retry import jitter_strategy_decl, retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

def ask(path, value):
    with urllib.request.urlopen(urllib.request.Request("${desk}" + path, data=json.dumps(value).encode())) as response:
        return json.load(response)

def invoke(parameters, region, state_credentials):
    answer = ask("/invoke", json.loads(parameters["Payload"]))
    failed = {} if answer["ok"] else {"FunctionError": "Unhandled"}
    return {"StatusCode": 200, "ExecutedVersion": "1", "Payload": answer["payload"], **failed}

class Random:
    uniform = staticmethod(lambda least, most: (least + most) / 2)

class Time:
    sleep = staticmethod(lambda seconds: ask("/wait", seconds))

default_user_config["stepfunctions"]["execute_state_machine"] = True
lambda_eval_utils._invoke_lambda_function = invoke
retrier_decl.time = Time
jitter_strategy_decl.random = Random
WaitFunction._wait_interval = lambda self, env, wait_seconds: ask("/wait", wait_seconds)
`;

const startedSchema = z.object({ executionArn: z.string() });
const describedSchema = z.looseObject({ status: z.string(), output: z.string().optional() });
const historySchema = z.object({ events: z.array(z.object({ type: z.string() })) });

export class MotoEngine implements AsyncDisposable {
  readonly payloads: unknown[] = [];
  readonly waitsMs: number[] = [];
  #work: Work = () => ({ ok: true, payload: null });
  readonly #emulator: EmulatorProcess;
  readonly #desk: Server;

  private constructor(emulator: EmulatorProcess, desk: Server) {
    this.#emulator = emulator;
    this.#desk = desk;
    desk.on("request", async (message, response) => {
      const value = await json(message);
      if (message.url === "/wait") this.waitsMs.push(Number(value) * 1000);
      else this.payloads.push(value);
      response.end(JSON.stringify(message.url === "/wait" ? null : lambdaAnswer(await this.#work(value))));
    });
  }

  static async start(): Promise<MotoEngine> {
    const desk = createServer();
    desk.listen(0, "127.0.0.1");
    await once(desk, "listening");
    const address = desk.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const emulator = await EmulatorProcess.start(prelude(`http://127.0.0.1:${port}`));
    return new MotoEngine(emulator, desk);
  }

  /** The ARN of a new state machine. */
  async create(name: string, definition: unknown): Promise<string> {
    const input = { name, definition: JSON.stringify(definition), roleArn: ROLE };
    const made = await this.call("CreateStateMachine", input);
    return z.object({ stateMachineArn: z.string() }).parse(made).stateMachineArn;
  }

  /** One execution from its start to its end, in which the function is `work`. */
  async run(stateMachineArn: string, name: string, input: string, work: Work) {
    this.#work = work;
    this.payloads.length = 0;
    this.waitsMs.length = 0;
    const { executionArn } = startedSchema.parse(
      await this.call("StartExecution", { stateMachineArn, name, input }),
    );
    for (;;) {
      const described = describedSchema.parse(await this.call("DescribeExecution", { executionArn }));
      if (described.status !== "RUNNING") return { executionArn, described };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async history(executionArn: string): Promise<readonly string[]> {
    const { events } = historySchema.parse(
      await this.call("GetExecutionHistory", { executionArn, maxResults: 1000 }),
    );
    return events.map(({ type }) => type);
  }

  /** Of Step Functions; returns also the bodies of refused calls. */
  async call(operation: string, input: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(this.#emulator.url, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `AWSStepFunctions.${operation}`,
        authorization:
          "AWS4-HMAC-SHA256 Credential=emulator/20261121/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=none",
      },
      body: JSON.stringify(input),
    });
    return z.record(z.string(), z.unknown()).parse(await response.json());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#emulator.stop();
    this.#desk.close();
    this.#desk.closeAllConnections();
  }
}

/** As Lambda answers. */
function lambdaAnswer(result: TaskResult): object {
  if (result.ok) return result;
  return { ok: false, payload: { errorType: result.error, errorMessage: result.cause } };
}
