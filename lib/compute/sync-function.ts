// The one function: its bundle, its size, what happens to a start that fails, and who may call it.

import { fileURLToPath } from "node:url";
import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { Alias, Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What Lambda takes of environment variables, names and values together. */
const MAX_ENVIRONMENT_BYTES = 4_096;
/** A token stands for an ARN or a name that only CloudFormation knows; the longest, a secret's ARN, is about this long. */
const TOKEN_BYTES = 140;

export interface SyncFunctionProps {
  readonly role: IRole;
  readonly environment: Readonly<Record<string, string>>;
  readonly failureQueue: IQueue;
  readonly logRetentionDays: RetentionDays;
  readonly reservedConcurrency: number | undefined;
}

export class SyncFunction extends Construct {
  readonly function: NodejsFunction;
  /** What schedules and people call: the failure queue and the retries belong to it, not to `$LATEST`. */
  readonly live: Alias;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: SyncFunctionProps) {
    super(scope, id);
    checkSize(props.environment);
    this.logGroup = new LogGroup(this, "Logs", {
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.logGroup.grantWrite(props.role);
    this.function = new NodejsFunction(this, "Function", {
      description: "Makes, checks and publishes snapshots of the events of a Brand Metrics Service",
      entry: root("lambdas/sync/handler.ts"),
      projectRoot: root("."),
      depsLockFilePath: root("package-lock.json"),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // Lambda gives one whole processor from here on. A run mostly waits for its budget, and then gzips, hashes
      // and compares: with less it would wait for itself.
      memorySize: 1_769,
      // The most there is. A run stops at a unit's edge before it, and the retry goes on from there.
      timeout: Duration.minutes(15),
      // None unless asked for. The lease already keeps every account to one run at a time, and Lambda insists on
      // 100 unreserved: in a new AWS account, which has 10 in all, reserving any makes the deployment fail.
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      role: props.role,
      logGroup: this.logGroup,
      environment: props.environment,
      // Not minified: a stack trace in the log reads as the source does, and a start a day does not notice.
      bundling: {
        format: OutputFormat.ESM,
        // The clients that were tested are the ones that run, whatever version the runtime brings.
        bundleAwsSDK: true,
        mainFields: ["module", "main"],
        target: "node24",
        banner:
          'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
      },
    });
    this.live = new Alias(this, "Live", {
      aliasName: "live",
      version: this.function.currentVersion,
      // A start that is an hour late would be followed by the next one soon; two retries go on with an
      // unfinished run.
      maxEventAge: Duration.hours(1),
      retryAttempts: 2,
      onFailure: { bind: () => ({ destination: props.failureQueue.queueArn }) },
    });
    acknowledge(this.function);
  }
}

function acknowledge(scope: Construct): void {
  Validations.of(scope).acknowledge(
    {
      id: "Serverless-LambdaTracing",
      reason:
        "One function and nothing behind it to trace; its log lines carry run, account and request id, and tracing needs a permission on every resource.",
    },
    {
      id: "Serverless-LambdaDLQ",
      reason:
        "A start that failed goes to the failure queue, with the error, by the alias's on-failure destination. Nobody starts $LATEST asynchronously.",
    },
  );
}

function checkSize(environment: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(environment)
    .map(([name, value]) => name + value.replaceAll(/\$\{Token\[[^\]]*\]\}/g, "?".repeat(TOKEN_BYTES)))
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= MAX_ENVIRONMENT_BYTES) return;
  throw new Error(
    `eventSync.accounts: expected at most ${MAX_ENVIRONMENT_BYTES} bytes of settings for the function, and got about ${bytes}. Lambda takes no more: leave out what has its default, or deploy some of the accounts as a second stack.`,
  );
}
