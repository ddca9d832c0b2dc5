// The function: its code, its size, and what happens to a start that fails. A clone bundles the code from the sources; the
// installed package takes it as it is, because it has no sources and its users have no esbuild.

import { cpSync, existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage, Duration, RemovalPolicy } from "aws-cdk-lib";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { Alias, Architecture, Code, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { type ILogGroup, LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { FUNCTION_FILE_NAME } from "../../lambdas/sync/environment.ts";
import { acknowledge } from "../acknowledge.ts";

/** Lambda's maximum. An invocation stops between two units of its work before that. */
export const FUNCTION_TIMEOUT = Duration.minutes(15);

interface SyncFunctionProps {
  readonly role: IRole;
  readonly environment: Readonly<Record<string, string>>;
  /** The text of the settings file beside the code. */
  readonly settingsFile: string;
  readonly failureQueue: IQueue;
  /** The group of the log, if the app brings one. */
  readonly logGroup: ILogGroup | undefined;
  /** Of a group that is made. */
  readonly logRetentionDays: RetentionDays;
  readonly reservedConcurrency: number | undefined;
}

export class SyncFunction extends Construct {
  readonly function: NodejsFunction;
  /** Schedules and people call the alias: the failure queue and the retries belong to it, not to `$LATEST`. */
  readonly live: Alias;
  readonly logGroup: ILogGroup;

  constructor(scope: Construct, id: string, props: SyncFunctionProps) {
    super(scope, id);
    this.logGroup =
      props.logGroup ??
      new LogGroup(this, "Logs", {
        retention: props.logRetentionDays,
        removalPolicy: RemovalPolicy.DESTROY,
      });
    this.logGroup.grantWrite(props.role);
    this.function = new NodejsFunction(this, "Function", {
      description: "Makes, checks and publishes snapshots of the events of a Brand Metrics Service",
      ...functionCode(props.settingsFile),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // From this size on Lambda gives one whole processor. A run mostly waits for its budget, but publishing is
      // limited by the processor: it gzips, hashes and compares.
      memorySize: 1_769,
      timeout: FUNCTION_TIMEOUT,
      // None by default. The lease already limits every account to one run at a time, and Lambda requires 100
      // unreserved: in a new AWS account, which has 10 in total, any reservation makes the deployment fail.
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      role: props.role,
      logGroup: this.logGroup,
      environment: props.environment,
    });
    this.live = new Alias(this, "Live", {
      aliasName: "live",
      version: this.function.currentVersion,
      // A start that is more than an hour late is not worth starting: the next one follows soon. Each of the two
      // retries resumes an unfinished run.
      maxEventAge: Duration.hours(1),
      retryAttempts: 2,
      onFailure: { bind: () => ({ destination: props.failureQueue.queueArn }) },
    });
    acknowledgeFindings(this.function);
  }
}

function acknowledgeFindings(scope: Construct): void {
  acknowledge(
    scope,
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
}

/** Beside the built construct. A clone has no such folder. */
const BUILT = fileURLToPath(new URL("function/", import.meta.url));
const SOURCES = fileURLToPath(new URL("../../", import.meta.url));

/** @param settingsFile the text of the settings file beside the code */
function functionCode(settingsFile: string): { readonly code: Code; readonly handler: string } {
  const isBuilt = existsSync(BUILT);
  const tryBundle = (folder: string): boolean => {
    if (isBuilt) cpSync(BUILT, folder, { recursive: true });
    else bundleInto(folder);
    writeFileSync(join(folder, FUNCTION_FILE_NAME), settingsFile);
    return true;
  };
  const code = Code.fromAsset(isBuilt ? BUILT : SOURCES, {
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
  return { code, handler: FUNCTION_HANDLER };
}

/** Loads esbuild, which an app with the installed package may not have. Synthesis cannot wait for an import. */
function bundleInto(folder: string): void {
  const bundler: typeof import("./bundle-function.ts") = createRequire(import.meta.url)(
    "./bundle-function.ts",
  );
  bundler.bundleFunction(folder);
}

/** The handler in the file of the bundle that Lambda loads. */
const FUNCTION_HANDLER = "index.handler";
