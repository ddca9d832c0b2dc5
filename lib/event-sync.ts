// The whole deployment as one construct: which construct owns what, and what the function may do with it.

import { Annotations, CfnResource, Stack, Tags, Token } from "aws-cdk-lib";
import { type IManagedPolicy, PermissionsBoundary, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { isPlaceholder } from "../lambdas/job/settings/addresses.ts";
import { environmentOf, functionFileText } from "../lambdas/sync/environment.ts";
import { METRIC_NAMESPACE } from "../lambdas/sync/telemetry/metrics.ts";
import { EndedExecutions, FailureQueue } from "./compute/failure-queue.ts";
import { Schedules } from "./compute/schedules.ts";
import { ExecutionStarts, StateMachine } from "./compute/state-machine.ts";
import { SyncFunction } from "./compute/sync-function.ts";
import { AnalystPolicy } from "./data/analyst-policy.ts";
import { CredentialSecrets, Tokens } from "./data/secrets.ts";
import { RESULTS_PREFIX, Storage } from "./data/storage.ts";
import { WarehouseTables } from "./data/warehouse.ts";
import { Workgroup } from "./data/workgroup.ts";
import { deploymentNames } from "./deployment-names.ts";
import type { EventSyncProps } from "./event-sync-props.ts";
import { AlarmTopic } from "./monitoring/alarm-topic.ts";
import { Alarms } from "./monitoring/alarms.ts";
import { SavedLogQueries, SyncDashboard } from "./monitoring/dashboard.ts";
import { DefaultEventBus, Mails, UnsentEvents } from "./monitoring/mails.ts";
import { accountMetricIn } from "./monitoring/metrics.ts";
import { addOutputs } from "./outputs.ts";

import { parseSettings, type Settings } from "./settings/settings.ts";

/** On everything, with the name of the deployment. */
const DEPLOYMENT_TAG = "brand-events-sync";

export class EventSync extends Construct {
  /** The Glue database with the tables. */
  readonly database: string;
  /** The Athena workgroup, and the start of the names of other resources. */
  readonly workgroup: string;
  readonly bucket: IBucket;
  /** For the roles and groups of analysts. */
  readonly analystPolicy: IManagedPolicy;
  /** The alias of the function that schedules and people call. */
  readonly function: IFunction;
  readonly logGroup: ILogGroup;
  readonly alarmTopic: ITopic;
  /** Failed starts. */
  readonly failureQueue: IQueue;
  readonly stateMachineArn: string;

  constructor(scope: Construct, id: string, props: EventSyncProps) {
    super(scope, id);
    const { name, metricNamespace, ...names } = deploymentNames(this);
    const settings = parseSettings(props.settings, {
      source: { title: `EventSync ${this.node.path}`, keyPath: ["settings"] },
      database: names.database,
    });
    this.database = settings.database;
    const { accounts, lifted } = settings;
    const accountNames = Object.keys(accounts);
    const { encryptionKey } = props;
    const { existingBucket } = settings;
    const storage = new Storage(this, "Storage", { bucket: props.bucket, existingBucket, encryptionKey });
    const credentials = new CredentialSecrets(this, "Credentials", {
      deployment: name,
      accounts: accountNames,
      encryptionKey,
    });
    const tokens = new Tokens(this, "Tokens", { deployment: name, accounts, encryptionKey });
    const warehouse = new WarehouseTables(this, "Warehouse", {
      database: settings.database,
      bucketName: storage.bucket.bucketName,
      lifted,
    });
    const workgroup = new Workgroup(this, "Analysis", {
      name,
      database: warehouse.database,
      resultsLocation: storage.resultsLocation,
      encryptionKey: storage.keys[0],
      scanLimitGigabytes: settings.scanLimitGigabytes,
      firstAccount: accountNames[0] ?? "",
    });
    const analysts = new AnalystPolicy(this, "Analysts", {
      bucket: storage.bucket,
      keys: storage.keys,
      resultsPrefix: RESULTS_PREFIX,
      database: warehouse.database,
      workgroup: workgroup.workgroupName,
    });
    const eventBus = new DefaultEventBus(this, "Events");
    const failureQueue = new FailureQueue(this, "Failures");
    const handOver = new ExecutionStarts(this, "HandOver", name);

    // Each construct grants the function its permissions and returns, in the same call, the settings that the
    // function needs: neither exists without the other.
    const role = new Role(this, "FunctionRole", {
      description: "The permissions of the function",
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
    });
    const environment = environmentOf({
      ...storage.grantTo(role),
      ...warehouse.grantTo(role),
      ...workgroup.nameFor(),
      ...eventBus.grantTo(role),
      ...credentials.grantTo(role),
      ...tokens.grantTo(role),
      ...handOver.grantTo(role),
      ...(metricNamespace === METRIC_NAMESPACE ? {} : { metricNamespace }),
    });
    failureQueue.grantTo(role);
    const sync = new SyncFunction(this, "Sync", {
      role,
      environment,
      settingsFile: functionFileText(settings),
      failureQueue: failureQueue.queue,
      logGroup: props.logGroup,
      logRetentionDays: settings.logRetentionDays,
      reservedConcurrency: settings.reservedConcurrency,
    });
    new Schedules(this, "Schedules", {
      name,
      group: props.scheduleGroup,
      target: sync.live,
      failureQueue,
      accounts,
    });
    new StateMachine(this, "StateMachine", { handOver, target: sync.live });
    const { stateMachineArn } = handOver;
    new EndedExecutions(this, "EndedExecutions", { stateMachineArn, target: sync.live, failureQueue });

    const { topic } = new AlarmTopic(this, "AlarmTopic", {
      given: props.alarmTopic,
      email: settings.alarmEmail,
      encryptionKey,
    });
    if (settings.alarmEmail === undefined && props.alarmTopic === undefined) {
      Annotations.of(this).addInfo("eventSync.alarmEmail: not set, so alarms send no e-mail.");
    }
    warnOfPlaceholders(this, accounts);
    const { runbookUrl } = settings;
    const location = storage.location("").replace(/\/$/, "");
    new Mails(this, "Mails", {
      workgroup: workgroup.workgroupName,
      functionName: sync.function.functionName,
      warehouse: location,
      topic,
      failureQueue: failureQueue.queue,
      runbookUrl,
    });
    const metric = accountMetricIn(metricNamespace);
    const alarms = new Alarms(this, "Alarms", {
      name,
      metric,
      accounts,
      failureQueue: failureQueue.queue,
      stateMachineArn,
      unsentEvents: new UnsentEvents(this, "UnsentEvents", metricNamespace, sync.logGroup).metric,
      topic,
      runbookUrl,
    });
    const dashboard = new SyncDashboard(this, "Overview", {
      name,
      metric,
      accounts: alarms.byAccount,
      alarmsOfAll: alarms.ofAll,
      logGroup: sync.logGroup,
      stateMachineArn,
    });
    new SavedLogQueries(this, "LogQueries", name, sync.logGroup);
    addOutputs(this, {
      prefix: names.outputPrefix,
      secretIds: credentials.secretIds,
      authorizations: tokens.authorizations,
      functionName: sync.function.functionName,
      logGroupName: sync.logGroup.logGroupName,
      failureQueueUrl: failureQueue.queue.queueUrl,
      stateMachineArn,
      workgroup: workgroup.workgroupName,
      analystPolicyArn: analysts.policy.managedPolicyArn,
      dashboard: dashboard.dashboardName,
      warehouse: location,
    });
    checkSize(this, accountNames.length);
    for (const [key, value] of Object.entries({ [DEPLOYMENT_TAG]: name, ...settings.tags })) {
      Tags.of(this).add(key, value);
    }
    if (props.permissionsBoundary !== undefined) {
      PermissionsBoundary.of(this).apply(props.permissionsBoundary);
    }
    this.workgroup = workgroup.workgroupName;
    this.bucket = storage.bucket;
    this.analystPolicy = analysts.policy;
    this.function = sync.live;
    this.logGroup = sync.logGroup;
    this.alarmTopic = topic;
    this.failureQueue = failureQueue.queue;
    this.stateMachineArn = stateMachineArn;
    const all = this.node.root.node.findAll().filter((each) => each instanceof EventSync);
    refuseSameDatabase(this, all);
  }
}

/** The number of accounts that fit into a stack. */
const MAX_RESOURCES = 500;

/** Throws if CloudFormation would refuse the resources of a deployment. */
function checkSize(scope: Construct, accounts: number): void {
  const resources = scope.node.findAll().filter((each) => CfnResource.isCfnResource(each)).length;
  if (resources <= MAX_RESOURCES) return;
  throw new Error(
    `eventSync.accounts: ${accounts} accounts need ${resources} resources, and a stack of CloudFormation has at most ${MAX_RESOURCES}. Deploy some of the accounts as a second stack, with a stackName and a database of its own (docs/aws.md, "A second stack").`,
  );
}

/** The address that `cdk.json` is delivered with is a placeholder. */
function warnOfPlaceholders(scope: Construct, accounts: Settings["accounts"]): void {
  const names = Object.keys(accounts).filter((name) => isPlaceholder(accounts[name]?.baseUrl ?? ""));
  if (names.length === 0) return;
  Annotations.of(scope).addWarningV2(
    "brand-events-sync:placeholder",
    `eventSync.baseUrl: the address of the service is still a placeholder (${names.join(", ")}). Set your own; until then runs fail with CONFIG_INVALID.`,
  );
}

/**
 * Two deployments of an app that would have the same database: found when the template is made, not half-way through a
 * deployment.
 */
interface WithDatabase extends Construct {
  readonly database: string;
}

/** Throws if one of `others` has the database of `deployment` in the same AWS account and region. */
function refuseSameDatabase(deployment: WithDatabase, others: readonly WithDatabase[]): void {
  const same = others.find(
    (other) => other !== deployment && other.database === deployment.database && share(other, deployment),
  );
  if (same === undefined) return;
  throw new Error(
    `settings.database: ${same.node.path} and ${deployment.node.path} both have the database ${deployment.database}, and their tables would be the same. Give one of them another name, or leave it out: then it is named after the stack and the construct.`,
  );
}

/** Two stacks without a region or an AWS account may be deployed to different ones. */
function share(a: Construct, b: Construct): boolean {
  const [one, other] = [Stack.of(a), Stack.of(b)];
  if (one === other) return true;
  const isKnown = ![one.account, one.region].some((part) => Token.isUnresolved(part));
  return isKnown && one.environment === other.environment;
}
