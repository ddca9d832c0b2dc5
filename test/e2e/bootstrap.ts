// A minimal Node.js runtime of Lambda: takes invocations from the Runtime API and calls the handler.

import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const {
  AWS_LAMBDA_RUNTIME_API: api = "",
  _HANDLER: handlerName = "",
  LAMBDA_TASK_ROOT: root = "",
} = process.env;

interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Not `fetch`: the wait for the next invocation has no time limit. */
function call(method: "GET" | "POST", path: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`http://${api}/2018-06-01/runtime/${path}`, { method }, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ headers: response.headers, text });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

function describe(error: unknown): string {
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return JSON.stringify({ errorType: name, errorMessage: message, stackTrace: stack.split("\n") });
}

function contextOf({ headers }: Answer): object {
  const deadlineMs = Number(headers["lambda-runtime-deadline-ms"]);
  const environment = process.env;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: environment["AWS_LAMBDA_FUNCTION_NAME"],
    functionVersion: environment["AWS_LAMBDA_FUNCTION_VERSION"],
    memoryLimitInMB: environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
    logGroupName: environment["AWS_LAMBDA_LOG_GROUP_NAME"],
    logStreamName: environment["AWS_LAMBDA_LOG_STREAM_NAME"],
    awsRequestId: headers["lambda-runtime-aws-request-id"],
    invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  };
}

async function load(): Promise<(event: unknown, context: object) => Promise<unknown>> {
  const [file, name = ""] = handlerName.split(".");
  const module: Readonly<Record<string, unknown>> = await import(
    pathToFileURL(join(root, `${file}.mjs`)).href
  );
  const handler = module[name];
  if (typeof handler !== "function") throw new TypeError(`${handlerName} is not a function`);
  return async (event, context) => handler(event, context);
}

const handler = await load().catch(async (error: unknown) => {
  await call("POST", "init/error", describe(error));
  process.exit(1);
});
for (;;) {
  const next = await call("GET", "invocation/next");
  const id = String(next.headers["lambda-runtime-aws-request-id"]);
  try {
    const result = await handler(JSON.parse(next.text), contextOf(next));
    await call("POST", `invocation/${id}/response`, JSON.stringify(result ?? null));
  } catch (error) {
    await call("POST", `invocation/${id}/error`, describe(error));
  }
}
