// The function's entry point: connects an invocation with the adapters of AWS.

import { readFileSync } from "node:fs";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { GlueClient } from "@aws-sdk/client-glue";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SFNClient } from "@aws-sdk/client-sfn";
import type { Context } from "aws-lambda";
import { GlueCatalog } from "../job/catalog/glue/glue-catalog.ts";
import { warehouseLocation } from "../job/catalog/glue/glue-tables.ts";
import { SecretsManagerCredentials } from "../job/credentials/secrets-manager-credentials.ts";
import { SecretsManagerTokenStore } from "../job/credentials/tokens/secrets-manager-token-store.ts";
import { awsClient } from "../job/network/aws-client.ts";
import { type Proxies, readProxies } from "../job/network/proxies.ts";
import { StepFunctionsExecutions } from "../job/run/hand-over/step-functions-executions.ts";
import { systemClock, systemRandom } from "../job/runtime/clock.ts";
import { VERSION } from "../job/runtime/version.ts";
import { S3Store } from "../job/storage/s3/s3-store.ts";
import { FUNCTION_FILE_NAME, readEnvironment } from "./environment.ts";
import { cloudWatchMetrics, eventBridgeSender, type FunctionPorts, functionLog } from "./function-ports.ts";
import { handleRequest } from "./handle-request.ts";

/** Once per process: connections outlive an invocation. */
let clients: ReturnType<typeof openClients> | undefined;
/** Beside the bundle. */
const SETTINGS = new URL(FUNCTION_FILE_NAME, import.meta.url);
const logger = functionLog();

export async function handler(event: unknown, context: Context): Promise<object> {
  return handleRequest(compose, logger, event, context);
}

function openClients(proxies: Proxies) {
  const aws = awsClient(proxies);
  return {
    s3: new S3Client(aws),
    glue: new GlueClient(aws),
    secrets: new SecretsManagerClient(aws),
    eventBridge: new EventBridgeClient(aws),
    stepFunctions: new SFNClient(aws),
  };
}

/** For each invocation, so that a wrong environment is reported as an error of it, with its remedy. Throws `CONFIG_INVALID`. */
function compose(): FunctionPorts {
  const proxies = readProxies(process.env);
  clients ??= openClients(proxies);
  const { s3, glue, secrets, eventBridge, stepFunctions } = clients;
  const environment = readEnvironment(process.env, readFileSync(SETTINGS, "utf8"));
  const { bucket, bucketOwner, database, workgroup, metricNamespace, stateMachineArn } = environment;
  const store = new S3Store({ client: s3, bucket, prefix: "", owner: bucketOwner, random: systemRandom });
  const location = warehouseLocation(bucket, "");
  return {
    environment,
    store,
    catalog: new GlueCatalog({ client: glue, store, database, location, clock: systemClock }),
    tokens: (secretId) => new SecretsManagerTokenStore({ client: secrets, secretId, clock: systemClock }),
    credentials: (secretId) => new SecretsManagerCredentials({ client: secrets, secretId }),
    clock: systemClock,
    random: systemRandom,
    logger,
    metrics: cloudWatchMetrics(metricNamespace),
    sendEvent: eventBridgeSender(eventBridge, workgroup),
    version: VERSION,
    proxies,
    executions: new StepFunctionsExecutions(stepFunctions, stateMachineArn),
  };
}
