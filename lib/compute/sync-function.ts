// The function: its code, its size, and what happens to a start that fails. A clone bundles the code from the sources; the
// installed package takes it as it is, because it has no sources and its users have no esbuild.

import { cpSync, existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { AssetHashType, DockerImage, Duration, RemovalPolicy } from "aws-cdk-lib";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { Alias, Architecture, Code, type IFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, type NodejsFunctionProps } from "aws-cdk-lib/aws-lambda-nodejs";
import { type ILogGroup, LogGroup } from "aws-cdk-lib/aws-logs";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { FUNCTION_FILE_NAME, functionFileText, START_RETRIES } from "../../lambdas/sync/environment.ts";
import { acknowledge } from "../acknowledge.ts";
import { ASSETS } from "../assets.ts";
import type { Settings } from "../settings.ts";

/** For starts that failed for good: all retries failed, or the start was too old to retry. */
export function addFailureQueue(parent: Construct): Queue {
  const queue = new Queue(new Construct(parent, "Failures"), "Queue", {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    // The maximum of SQS: a person reads the messages, perhaps after a holiday.
    retentionPeriod: Duration.days(14),
  });
  const reason = "This is the queue for failed starts. A person empties it, and an alarm says when.";
  acknowledge(queue, { id: "AwsSolutions-SQS3", reason }, { id: "Serverless-SQSRedrivePolicy", reason });
  return queue;
}

/** Lambda's maximum. An invocation stops between two units of its work before that. */
export const FUNCTION_TIMEOUT = Duration.minutes(15);

interface SyncFunctionProps {
  readonly role: IRole;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: Settings;
  readonly failureQueue: IQueue;
  /** The group of the log, if the app brings one. */
  readonly logGroup: ILogGroup | undefined;
  /** Where it runs, if the app brings a VPC. */
  readonly network: Pick<NodejsFunctionProps, "vpc" | "vpcSubnets" | "securityGroups">;
}

interface SyncFunction {
  readonly functionName: string;
  /** Schedules and people call the alias: the failure queue and the retries belong to it, not to `$LATEST`. */
  readonly live: IFunction;
  readonly logGroup: ILogGroup;
}

export function addFunction(
  parent: Construct,
  { role, environment, settings, failureQueue, network, ...brought }: SyncFunctionProps,
): SyncFunction {
  const scope = new Construct(parent, "Sync");
  const logGroup =
    brought.logGroup ??
    new LogGroup(scope, "Logs", {
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  logGroup.grantWrite(role);
  const sync = new NodejsFunction(scope, "Function", {
    description: "Makes, checks and publishes snapshots of the events of a Brand Metrics Service",
    code: functionCode(functionFileText(settings)),
    // In the file of the bundle that Lambda loads.
    handler: "index.handler",
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    // From this size on Lambda gives one whole processor. A run mostly waits for its budget, but publishing is
    // limited by the processor: it gzips, hashes and compares.
    memorySize: 1_769,
    timeout: FUNCTION_TIMEOUT,
    // None by default. The lease already limits every account to one run at a time, and Lambda requires 100
    // unreserved: in a new AWS account, which has 10 in total, any reservation makes the deployment fail.
    ...(settings.reservedConcurrency === undefined
      ? {}
      : { reservedConcurrentExecutions: settings.reservedConcurrency }),
    role,
    logGroup,
    environment,
    ...network,
  });
  const live = new Alias(scope, "Live", {
    aliasName: "live",
    version: sync.currentVersion,
    // A start that is more than an hour late is not worth starting: the next one follows soon. Each retry resumes an
    // unfinished run.
    maxEventAge: Duration.hours(1),
    retryAttempts: START_RETRIES,
    onFailure: { bind: () => ({ destination: failureQueue.queueArn }) },
  });
  acknowledge(
    sync,
    {
      id: "Serverless-LambdaTracing",
      reason:
        "There is one function and nothing behind it to trace. Its log lines have the run, the account and the request id, and tracing needs a permission on every resource.",
    },
    {
      id: "Serverless-LambdaDLQ",
      reason:
        "The alias's on-failure destination sends a failed start and its error to the failure queue. Nothing starts $LATEST asynchronously.",
    },
  );
  return { functionName: sync.functionName, live, logGroup };
}

/** A clone has no such folder. */
const BUILT = join(ASSETS, "function");
const SOURCES = join(ASSETS, "..");

/** @param settingsFile the text of the settings file beside the code */
function functionCode(settingsFile: string): Code {
  const isBuilt = existsSync(BUILT);
  const tryBundle = (folder: string): boolean => {
    if (isBuilt) cpSync(BUILT, folder, { recursive: true });
    else bundleInto(folder);
    writeFileSync(join(folder, FUNCTION_FILE_NAME), settingsFile);
    return true;
  };
  return Code.fromAsset(isBuilt ? BUILT : SOURCES, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // The CDK asks for one. It is not used, because the files are made here.
      image: DockerImage.fromRegistry("scratch"),
      // Neither is this. The CDK makes an asset once for each set of options, and would otherwise not see that the
      // settings of two deployments differ.
      environment: { SETTINGS: settingsFile },
      local: { tryBundle },
    },
  });
}

/** Loads esbuild, which an app with the installed package may not have. Synthesis cannot wait for an import. */
function bundleInto(folder: string): void {
  const bundler: typeof import("./bundle-function.ts") = createRequire(`${ASSETS}/`)(
    "./compute/bundle-function.ts",
  );
  bundler.bundleFunction(folder);
}
