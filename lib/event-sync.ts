// The whole deployment as one construct: what an app may bring, and what is made where it brings nothing.

import { Annotations, ArnFormat, CfnResource, Stack, Tags, Token } from "aws-cdk-lib";
import type { ISecurityGroup, IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import { type IManagedPolicy, type ManagedPolicy, PermissionsBoundary } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import * as z from "zod";
import { warehouseLocation } from "../lambdas/job/catalog/glue/glue-tables.ts";
import { isPlaceholder } from "../lambdas/job/settings/values.ts";
import {
  checkedSettings,
  type SettingsSource,
  unusableSetting,
} from "../lambdas/job/settings-file/read-settings.ts";
import { environmentOf } from "../lambdas/sync/environment.ts";
import { addSchedules, addStateMachine } from "./compute/state-machine.ts";
import { addFailureQueue, addFunction } from "./compute/sync-function.ts";
import { addSecrets } from "./data/secrets.ts";
import { addStorage, addTables, RESULTS_PREFIX } from "./data/storage.ts";
import { addWorkgroup } from "./data/workgroup.ts";
import { addAlarms } from "./monitoring/alarms.ts";
import { addDashboard } from "./monitoring/dashboard.ts";
import { addAlarmTopic, addMails } from "./monitoring/mails.ts";
import { addOutputs } from "./outputs.ts";
import { addAnalystPolicy, addFunctionRole } from "./permissions.ts";
import { deploymentNames, type EventSyncSettings, parseSettings, type Settings } from "./settings.ts";

export interface EventSyncProps {
  /** The settings, as in `cdk.json` under `context.eventSync`, or the path of a settings file. */
  readonly settings: EventSyncSettings | string;
  /**
   * The bucket for all files. One of this app gets the lifecycle rules and the policy that protect the files, for the
   * folders of the deployment; of an imported one a warning names what it needs.
   */
  readonly bucket?: IBucket;
  /**
   * Encrypts the bucket, the results of queries, the secrets and the alarms' topic. With `bucket` it is not set there:
   * it is the key that the bucket is encrypted with.
   */
  readonly encryptionKey?: IKey;
  /** The permissions boundary of every role. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** The function's log. Its retention is yours, and `logRetentionDays` is ignored. */
  readonly logGroup?: ILogGroup;
  /** Where alarms go. `alarmEmail` subscribes to it. */
  readonly alarmTopic?: ITopic;
  /** The group of the schedules. */
  readonly scheduleGroup?: IScheduleGroup;
  /** Where the function runs: its requests then leave from there. Without it, it runs in a network of Lambda's. */
  readonly vpc?: IVpc;
  /** The subnets of `vpc` for the function; by default private ones with a way out. */
  readonly vpcSubnets?: SubnetSelection;
  /** Of the function in `vpc`; by default a new one, which allows all that goes out. */
  readonly securityGroups?: ISecurityGroup[];
}

/** On everything, with the name of the deployment. */
const DEPLOYMENT_TAG = "brand-events-sync";

export class EventSync extends Construct {
  /** The Glue database with the tables. */
  readonly database: string;
  /** The Athena workgroup, and the start of the names of other resources. */
  readonly workgroup: string;
  readonly bucket: IBucket;
  /** The policy for the roles and groups of analysts. */
  readonly analystPolicy: ManagedPolicy;
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
    const title = `EventSync ${this.node.path}`;
    const { settings: given, bucket: brought, encryptionKey, permissionsBoundary, ...others } = props;
    const { logGroup: log, alarmTopic, scheduleGroup, vpc, vpcSubnets, securityGroups, ...misspelt } = others;
    // Plain JavaScript takes any name, and with a misspelt boundary the roles would have none.
    checkedSettings(z.strictObject({}), misspelt, { title, keyPath: ["props"] });
    const source = { title, keyPath: ["settings"] };
    refuseTokens(given, source);
    const settings = parseSettings(given, { source, database: names.database });
    const { accounts, database, existingBucket, runbookUrl } = settings;
    this.database = database;
    this.workgroup = name;
    const { bucket, keys } = addStorage(this, { bucket: brought, existingBucket, encryptionKey });
    this.bucket = bucket;
    const { bucketName } = bucket;
    const location = warehouseLocation(bucketName, "");
    const secrets = addSecrets(this, { deployment: name, accounts, encryptionKey });
    addTables(this, settings, location);
    addWorkgroup(this, {
      name,
      encryptionKey: keys[0],
      resultsLocation: `${location}/${RESULTS_PREFIX}`,
      settings,
    });
    const warehouse = { bucket, keys, database };
    this.analystPolicy = addAnalystPolicy(this, warehouse, name);
    const failureQueue = addFailureQueue(this);
    this.failureQueue = failureQueue;
    // Made of its parts: the state machine names the function, so the function cannot refer to the state machine.
    this.stateMachineArn = Stack.of(this).formatArn({
      service: "states",
      resource: "stateMachine",
      resourceName: name,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const { functionName, live, logGroup } = addFunction(this, {
      role: addFunctionRole(this, {
        ...warehouse,
        secrets: secrets.names,
        encryptionKey,
        stateMachineArn: this.stateMachineArn,
        failureQueue,
        isInVpc: vpc !== undefined,
      }),
      environment: environmentOf({
        bucket: bucketName,
        bucketOwner: Stack.of(this).account,
        database,
        workgroup: name,
        ...secrets.names,
        stateMachineArn: this.stateMachineArn,
        metricNamespace,
      }),
      settings,
      failureQueue,
      logGroup: log,
      network: { vpc, vpcSubnets, securityGroups },
    });
    this.function = live;
    this.logGroup = logGroup;
    addSchedules(this, { name, group: scheduleGroup, target: live, failureQueue, accounts });
    addStateMachine(this, { name, arn: this.stateMachineArn, target: live, failureQueue });

    const topic = addAlarmTopic(this, {
      given: alarmTopic,
      email: settings.alarmEmail,
      encryptionKey,
    });
    this.alarmTopic = topic;
    addMails(this, { workgroup: name, functionName, warehouse: location, topic, failureQueue, runbookUrl });
    const monitored = { name, metricNamespace, logGroup, stateMachineArn: this.stateMachineArn };
    const alarms = addAlarms(this, { ...monitored, settings, failureQueue, topic });
    addDashboard(this, { ...monitored, alarms });
    addOutputs(this, {
      prefix: names.outputPrefix,
      secrets: secrets.secrets,
      functionName,
      logGroupName: logGroup.logGroupName,
      failureQueueUrl: failureQueue.queueUrl,
      stateMachineArn: this.stateMachineArn,
      workgroup: name,
      analystPolicyArn: this.analystPolicy.managedPolicyArn,
      warehouse: location,
    });
    warnOfPlaceholders(this, accounts);
    warnOfUnsaidLists(this, accounts);
    checkSize(this, Object.keys(accounts).length);
    for (const [key, value] of Object.entries({ [DEPLOYMENT_TAG]: name, ...settings.tags })) {
      Tags.of(this).add(key, value);
    }
    if (permissionsBoundary !== undefined) PermissionsBoundary.of(this).apply(permissionsBoundary);
    refuseSameDatabase(this);
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

/** Without it, a list that the service does not call whole is published with a doubt. */
function warnOfUnsaidLists(scope: Construct, accounts: Settings["accounts"]): void {
  const names = Object.keys(accounts).filter((name) => accounts[name]?.nextPage === undefined);
  if (names.length === 0) return;
  Annotations.of(scope).addWarningV2(
    "brand-events-sync:next-page",
    `eventSync.nextPage: not set (${names.join(", ")}). If the service does not say that its list is whole, each run says so. Compare what check counts with the service's own pages; if that is all, set "all".`,
  );
}

/**
 * Throws if another deployment of the app has the same database in the same AWS account and region: found when the
 * template is made, not half-way through a deployment.
 */
function refuseSameDatabase(deployment: EventSync): void {
  const same = deployment.node.root.node
    .findAll()
    .filter((each) => each instanceof EventSync)
    .find(
      (other) => other !== deployment && other.database === deployment.database && share(other, deployment),
    );
  if (same === undefined) return;
  throw new Error(
    `settings.database: ${same.node.path} and ${deployment.node.path} both have the database ${deployment.database}, and their tables would be the same. Give one of them another name, or leave it out: then it is named after the stack and the construct.`,
  );
}

/** Settings are written into the function's code, so each must be known by then. */
function refuseTokens(value: unknown, source: SettingsSource, path: readonly string[] = []): void {
  if (Token.isUnresolved(value)) {
    throw unusableSetting(
      source,
      path,
      "expected a value that is known at synthesis, because it becomes a part of the function's code, and got a token of the CDK, whose value is known only at deployment. Write the value itself, or read it from the context or the environment of the app",
    );
  }
  // No settings are nested as deep.
  if (typeof value !== "object" || value === null || path.length > 5) return;
  for (const [key, each] of Object.entries(value)) refuseTokens(each, source, [...path, key]);
}

/** Two stacks without a region or an AWS account may be deployed to different ones. */
function share(a: Construct, b: Construct): boolean {
  const [one, other] = [Stack.of(a), Stack.of(b)];
  if (one === other) return true;
  const isKnown = ![one.account, one.region].some((part) => Token.isUnresolved(part));
  return isKnown && one.environment === other.environment;
}
