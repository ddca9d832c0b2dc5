// The whole deployment as one construct: which construct owns what, and what the function may do with it.

import { Annotations, CfnResource } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { isPlaceholder } from "../lambdas/job/settings/base-url.ts";
import { environmentOf } from "../lambdas/sync/environment.ts";
import { settingsFileText } from "../lambdas/sync/settings-file.ts";
import { METRIC_NAMESPACE } from "../lambdas/sync/telemetry/metrics.ts";
import { EndedExecutions } from "./compute/ended-executions.ts";
import { DefaultEventBus } from "./compute/event-bus.ts";
import { FailureQueue } from "./compute/failure-queue.ts";
import { HandOver } from "./compute/hand-over.ts";
import { Schedules } from "./compute/schedules.ts";
import { StateMachine } from "./compute/state-machine.ts";
import { SyncFunction } from "./compute/sync-function.ts";
import { AnalystPolicy } from "./data/analyst-policy.ts";
import { Credentials } from "./data/credentials.ts";
import { RESULTS_PREFIX, Storage } from "./data/storage.ts";
import { Tokens } from "./data/tokens.ts";
import { Warehouse } from "./data/warehouse.ts";
import { Workgroup } from "./data/workgroup.ts";
import { deploymentNames } from "./deployment-names.ts";
import { AlarmTopic } from "./monitoring/alarm-topic.ts";
import { Alarms } from "./monitoring/alarms.ts";
import { SyncDashboard } from "./monitoring/dashboard.ts";
import { accountMetricIn } from "./monitoring/metrics.ts";
import { addOutputs } from "./outputs.ts";
import { refuseSameDatabase } from "./refuse-same-database.ts";
import type { EventSyncSettings } from "./settings/event-sync-settings.ts";
import { functionSettings } from "./settings/function-settings.ts";
import { parseSettings, type Settings } from "./settings/settings.ts";

const MAX_RESOURCES = 500;

export interface EventSyncProps {
  /** As in `cdk.json` under `context.eventSync`, or the path of a settings file. */
  readonly settings: EventSyncSettings | string;
}

export class EventSync extends Construct {
  /** Of the Glue database with the tables. */
  readonly database: string;

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
    const storage = new Storage(this, "Storage");
    const credentials = new Credentials(this, "Credentials", name, accountNames);
    const tokens = new Tokens(this, "Tokens", name, accounts);
    const warehouse = new Warehouse(this, "Warehouse", {
      database: settings.database,
      bucketName: storage.bucket.bucketName,
      lifted,
    });
    const workgroup = new Workgroup(this, "Analysis", {
      name,
      database: warehouse.database,
      resultsLocation: storage.resultsLocation,
      scanLimitGigabytes: settings.scanLimitGigabytes,
      firstAccount: accountNames[0] ?? "",
    });
    const analysts = new AnalystPolicy(this, "Analysts", {
      bucket: storage.bucket,
      resultsPrefix: RESULTS_PREFIX,
      database: warehouse.database,
      workgroup: workgroup.workgroupName,
    });
    const eventBus = new DefaultEventBus(this, "Events");
    const failureQueue = new FailureQueue(this, "Failures");
    const handOver = new HandOver(this, "HandOver", name);

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
      settingsFile: settingsFileText(functionSettings(settings)),
      failureQueue: failureQueue.queue,
      logRetentionDays: settings.logRetentionDays,
      reservedConcurrency: settings.reservedConcurrency,
    });
    new Schedules(this, "Schedules", { name, target: sync.live, failureQueue, accounts });
    new StateMachine(this, "StateMachine", { handOver, target: sync.live });
    const { stateMachineArn } = handOver;
    new EndedExecutions(this, "EndedExecutions", { stateMachineArn, target: sync.live, failureQueue });

    const { topic } = new AlarmTopic(this, "AlarmTopic", settings.alarmEmail);
    if (settings.alarmEmail === undefined) {
      Annotations.of(this).addInfo("eventSync.alarmEmail: not set, so alarms send no e-mail.");
    }
    warnOfPlaceholders(this, accounts);
    const { runbookUrl } = settings;
    const metric = accountMetricIn(metricNamespace);
    const alarms = new Alarms(this, "Alarms", {
      name,
      metric,
      accounts,
      failureQueue: failureQueue.queue,
      stateMachineArn,
      topic,
      runbookUrl,
    });
    const dashboard = new SyncDashboard(this, "Overview", {
      name,
      metric,
      accounts: accountNames,
      alarms: alarms.all,
      logGroup: sync.logGroup,
      stateMachineArn,
    });
    addOutputs(this, {
      prefix: names.outputPrefix,
      secretIds: credentials.secretIds,
      authorizations: tokens.authorizations,
      functionName: sync.function.functionName,
      logGroupName: sync.logGroup.logGroupName,
      failureQueueUrl: failureQueue.queue.queueUrl,
      stateMachineArn,
      workgroup: workgroup.workgroupName,
      analystPolicyArn: analysts.policyArn,
      dashboard: dashboard.dashboardName,
      warehouse: storage.location("").replace(/\/$/, ""),
    });
    checkSize(this, accountNames.length);
    const all = this.node.root.node.findAll().filter((each) => each instanceof EventSync);
    refuseSameDatabase(this, all);
  }
}

function checkSize(scope: Construct, accounts: number): void {
  const resources = scope.node.findAll().filter((each) => CfnResource.isCfnResource(each)).length;
  if (resources <= MAX_RESOURCES) return;
  throw new Error(
    `eventSync.accounts: ${accounts} accounts need ${resources} resources, and a stack of CloudFormation has at most ${MAX_RESOURCES}. Deploy some of the accounts as a second stack, with a stackName and a database of its own (docs/aws.md, "A second stack").`,
  );
}

function warnOfPlaceholders(scope: Construct, accounts: Settings["accounts"]): void {
  const names = Object.keys(accounts).filter((name) => isPlaceholder(accounts[name]?.baseUrl ?? ""));
  if (names.length === 0) return;
  Annotations.of(scope).addWarningV2(
    "brand-events-sync:placeholder",
    `eventSync.baseUrl: the address of the service is still a placeholder (${names.join(", ")}). Set your own; until then runs fail with CONFIG_INVALID.`,
  );
}
