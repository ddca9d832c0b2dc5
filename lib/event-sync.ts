// The whole deployment as one construct: what an app may bring, and what is made where it brings nothing.

import { Annotations, ArnFormat, CfnResource, Stack, Tags, Token } from "aws-cdk-lib";
import { type ISecurityGroup, type IVpc, type SubnetSelection, SubnetType } from "aws-cdk-lib/aws-ec2";
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
import { mustHaveAssets, PROGRAM } from "./assets.ts";
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
    mustHaveAssets();
    const { name, metricNamespace, ...names } = deploymentNames(this);
    const title = `EventSync ${this.node.path}`;
    // Plain JavaScript takes any props, also none.
    checkedSettings(z.looseObject({}), props, { title, keyPath: ["props"] });
    const { settings: given, bucket: brought, encryptionKey, permissionsBoundary, ...others } = props;
    const { logGroup: log, alarmTopic, scheduleGroup, vpc, vpcSubnets, securityGroups, ...misspelt } = others;
    // And any name, and with a misspelt boundary the roles would have none.
    checkedSettings(z.strictObject({}), misspelt, { title, keyPath: ["props"] });
    const source = { title, keyPath: ["settings"] };
    const settings = settingsOf(given, { source, database: names.database });
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
        program: PROGRAM,
      }),
      settings,
      failureQueue,
      logGroup: log,
      network: { vpc, vpcSubnets: vpcSubnets ?? subnetsOf(vpc), securityGroups },
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
    addMails(this, { workgroup: name, warehouse: location, topic, failureQueue, runbookUrl });
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
    refuseShared(this);
  }
}

/** The address for mails is no part of the function's code, so it may be known only at deployment. */
function settingsOf(
  given: EventSyncProps["settings"],
  options: { readonly source: SettingsSource; readonly database: string },
): Settings {
  const alarmEmail = typeof given === "object" ? given?.alarmEmail : undefined;
  if (typeof given === "string" || !Token.isUnresolved(alarmEmail)) {
    refuseTokens(given, options.source);
    return parseSettings(given, options);
  }
  const { alarmEmail: _, ...others } = given;
  refuseTokens(others, options.source);
  return { ...parseSettings(others, options), alarmEmail };
}

/** Private ones with a way out. The CDK takes isolated ones where there are no others: there every run ends by a time-out. */
function subnetsOf(vpc: IVpc | undefined): SubnetSelection | undefined {
  if (vpc === undefined) return undefined;
  if (vpc.privateSubnets.length > 0) return { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
  throw new Error(
    `EventSync: expected a vpc with private subnets that have a way out (PRIVATE_WITH_EGRESS), and got ${vpc.node.path}, which has none: the function could reach neither the service nor AWS. Give it a NAT gateway. If the service and AWS are reached without one, name the subnets with vpcSubnets (docs/cdk.md, "A fixed outgoing address").`,
  );
}

/** The number of accounts that fit into a stack. */
const MAX_RESOURCES = 500;

/** Throws if CloudFormation would refuse the resources of a deployment. */
function checkSize(scope: Construct, accounts: number): void {
  const resources = scope.node.findAll().filter((each) => CfnResource.isCfnResource(each)).length;
  if (resources <= MAX_RESOURCES) return;
  throw new Error(
    `eventSync.accounts: ${accounts} accounts need ${resources} resources, and a stack of CloudFormation has at most ${MAX_RESOURCES}. Deploy some of the accounts as a second stack, with a stackName and a database of its own (docs/settings.md, "A second stack").`,
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
 * Throws if another deployment of the app has the same bucket, log, or database in the same AWS account and region: found
 * when the template is made, not half-way through a deployment, or after it.
 */
function refuseShared(deployment: EventSync): void {
  for (const other of deployment.node.root.node.findAll()) {
    if (!(other instanceof EventSync) || other === deployment) continue;
    const both = `${other.node.path} and ${deployment.node.path} both have`;
    if (isSame(other.bucket, deployment.bucket, ({ bucketName }) => bucketName)) {
      throw new Error(
        `props.bucket: ${both} the bucket ${deployment.bucket.node.path}, and the files of their accounts would be the same. Give each a bucket of its own, or both accounts to one EventSync.`,
      );
    }
    if (isSame(other.logGroup, deployment.logGroup, ({ logGroupName }) => logGroupName)) {
      throw new Error(
        `props.logGroup: ${both} the log ${deployment.logGroup.node.path}, and the dashboard and the saved queries of each would show the runs of both. Give each a log of its own.`,
      );
    }
    if (other.database === deployment.database && share(other, deployment)) {
      throw new Error(
        `settings.database: ${both} the database ${deployment.database}, and their tables would be the same. Give one of them another name, or leave it out: then it is named after the stack and the construct.`,
      );
    }
  }
}

/** A resource that the app has made or imported once, or twice by its name. */
function isSame<Resource>(one: Resource, other: Resource, nameOf: (resource: Resource) => string): boolean {
  return one === other || nameOf(one) === nameOf(other);
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
