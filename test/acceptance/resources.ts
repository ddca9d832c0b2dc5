// Rows that look at what is deployed, and change nothing.

import { type MetricAlarm, paginateDescribeAlarms } from "@aws-sdk/client-cloudwatch";
import type { StorageDescriptor } from "@aws-sdk/client-glue";
import type { LifecycleRule } from "@aws-sdk/client-s3";
import { z } from "zod";
import { FOLDERS, layout, type TableName } from "../../lambdas/job/storage/layout.ts";
import { isAllowed, parseStatements } from "../e2e/policy.ts";
import { mustBeAsStated } from "./as-stated.ts";
import type { Deployed } from "./deployment.ts";
import { compare } from "./differences.ts";
import { without } from "./kind.ts";
import { listed, must, type Row, Skipped, UNDO } from "./row.ts";

export const RESOURCES: readonly Row[] = [
  {
    name: "rights",
    does: "lets IAM simulate, for each role of the template, the actions that it gives to it",
    expects:
      "each is allowed. It does not see the policies of keys and of the bucket: `check`, a run and a mail try those",
    remedy:
      'see the rows "policies" and "function"; where those are as stated, a boundary or a policy of your organization refuses the action: ask its owner',
    see: async ({ deployed }) => {
      const { calls, open } = await needed(deployed);
      const refused: string[] = [];
      for (const { role, actions, resource, context } of calls) {
        const { EvaluationResults = [] } = await deployed.clients.iam.simulatePrincipalPolicy({
          PolicySourceArn: role,
          ActionNames: [...actions],
          ResourceArns: [resource],
          ContextEntries: context.map(([ContextKeyName, value]) => ({
            ContextKeyName,
            ContextKeyValues: [value],
            ContextKeyType: "string",
          })),
        });
        const allowed = new Set(
          EvaluationResults.flatMap(({ EvalDecision, EvalActionName = "" }) =>
            EvalDecision === "allowed" ? [EvalActionName] : [],
          ),
        );
        const given = context.map(([key, value]) => ` with ${key} ${value}`).join("");
        for (const action of actions.filter((each) => !allowed.has(each)))
          refused.push(`${role.split("/").at(-1)} may not ${action} on ${resource}${given}`);
      }
      must(refused.length === 0, listed(refused));
      const roles = new Set(calls.map(({ role }) => role)).size;
      const skipped = open === 0 ? "" : `; ${open} statements name what is not known here`;
      return `${calls.length} simulations for ${roles} roles${skipped}; the policies of keys and of the bucket are not seen`;
    },
  },
  {
    name: "stack",
    does: "reads the stack and its resources",
    expects: "a deployment that ended well",
    remedy: "see the events of the stack in CloudFormation, and deploy again",
    see: async ({ deployed: { status, resources } }) => {
      const failed = resources.filter(({ ResourceStatus = "" }) => !ResourceStatus.endsWith("_COMPLETE"));
      must(status.endsWith("_COMPLETE") && !status.includes("ROLLBACK"), `the stack is in ${status}`);
      must(
        failed.length === 0,
        failed.map((one) => `${one.LogicalResourceId} ${one.ResourceStatus}`).join(", "),
      );
      return `${status}, ${resources.length} resources`;
    },
  },
  {
    name: "what a destroy keeps",
    does: "reads the deployed template",
    expects: "the bucket and the secrets, and nothing else",
    remedy:
      "deploy a version that is not changed by hand: without this, `cdk destroy` deletes data or credentials",
    see: async ({ deployed }) => {
      const kept = deployed.kept.toSorted();
      const buckets = deployed.ofType("AWS::S3::Bucket").map(() => "AWS::S3::Bucket");
      const secrets = deployed.ofType("AWS::SecretsManager::Secret").map(() => "AWS::SecretsManager::Secret");
      must(
        kept.join() === [...buckets, ...secrets].toSorted().join(),
        `kept are ${kept.join(", ") || "none"}`,
      );
      return `${buckets.length} bucket, ${secrets.length} secrets`;
    },
  },
  {
    name: "bucket",
    does: "reads encryption, versions, public access and lifecycle of the bucket",
    expects:
      "encrypted, with versions, closed to the public; only runs/, athena-results/ and run-log/ expire, not too early; nothing is archived",
    remedy: `${UNDO}; for a bucket of your own see docs/cdk.md, "A bucket that exists"`,
    see: async ({ deployed }) => {
      const { s3 } = deployed.clients;
      const Bucket = deployed.bucket;
      const { Status = "off" } = await s3.getBucketVersioning({ Bucket });
      must(Status === "Enabled", `versions are ${Status}`);
      const { PublicAccessBlockConfiguration: closed = {} } = await s3.getPublicAccessBlock({ Bucket });
      must(Object.values(closed).filter((one) => one === true).length === 4, "public access is not blocked");
      const { ServerSideEncryptionConfiguration } = await s3.getBucketEncryption({ Bucket });
      must(ServerSideEncryptionConfiguration?.Rules?.length === 1, "there is no encryption");
      const { Rules = [] } = await s3.getBucketLifecycleConfiguration({ Bucket });
      const enabled = Rules.filter(({ Status: isOn }) => isOn !== "Disabled");
      const wrong = enabled.flatMap(wrongIn);
      must(wrong.length === 0, listed(wrong));
      const missing = EXPIRING.filter(
        ({ folder, must: isNeeded }) =>
          isNeeded &&
          !enabled.some((rule) => prefixOf(rule) === folder && rule.Expiration?.Days !== undefined),
      );
      must(
        missing.length === 0,
        `what is in ${missing.map(({ folder }) => folder).join(" and ")} never expires`,
      );
      return `encrypted, versions, closed; ${enabled.length} lifecycle rules`;
    },
  },
  {
    name: "partitions",
    does: "compares the account's partitions with the files",
    expects:
      "those of the account lie at its files, that of events at the newest publication, read as their tables",
    remedy: "start a run or a check of the account, which brings the partitions up to its publications",
    see: async ({ deployed, account }) => {
      const last = (await deployed.keys(layout(account).publications)).at(-1);
      if (last === undefined) throw new Skipped("nothing is published yet");
      const newest = publicationSchema.parse(await deployed.read(last));
      const folders = {
        publications: layout(account).publications,
        sync_runs: layout(account).runLogs,
        events: layout(account).snapshot(newest.snapshot_id),
      };
      const wrong = await Promise.all(
        TABLES_OF_ACCOUNTS.map((table) => wrongInPartition(deployed, table, account, folders[table])),
      );
      must(wrong.flat().length === 0, listed(wrong.flat()));
      return `events is publication ${newest.publication}`;
    },
  },
  {
    name: "analysts",
    does: "reads the policy for analysts, and decides on some calls with it",
    expects: "queries of the tables are allowed; other files, and every change, are refused",
    remedy: UNDO,
    see: async ({ deployed }) => {
      const wrong = wrongDecisions(await analystPolicy(deployed), await analystCalls(deployed));
      must(wrong.length === 0, wrong.join(", "));
      return `${deployed.output("AnalystPolicyArn").split("/").at(-1)}`;
    },
  },
  {
    name: "analysts, by IAM",
    does: "lets IAM simulate the policy for analysts",
    expects: "the same decisions",
    remedy: "report the call: IAM decides otherwise than the tests assume",
    notOnEmulator: "it simulates no policies",
    see: async ({ deployed }) => {
      const policy = await analystPolicy(deployed);
      for (const { action, resources, isAllowed: expected } of await analystCalls(deployed)) {
        const { EvaluationResults = [] } = await deployed.clients.iam.simulateCustomPolicy({
          PolicyInputList: [policy],
          ActionNames: [action],
          ResourceArns: [...resources],
        });
        const isAllowed = EvaluationResults.every(({ EvalDecision }) => EvalDecision === "allowed");
        must(
          isAllowed === expected,
          `${action} on ${resources.at(-1)} is ${isAllowed ? "allowed" : "refused"}`,
        );
      }
      return "the same decisions";
    },
  },
  {
    name: "alarms that are raised",
    does: "reads the state of the alarms",
    expects:
      "their actions are on; none is raised, but `stale` of an account that is younger than its staleAfterHours",
    remedy: "see the text of the alarm; `aws cloudwatch enable-alarm-actions` if its actions are off",
    see: async ({ deployed }) => {
      const alarms = await alarmsOf(deployed);
      const off = alarms.filter(({ ActionsEnabled }) => ActionsEnabled !== true);
      must(off.length === 0, `actions are off: ${off.map(({ AlarmName }) => AlarmName).join(", ")}`);
      const raised: MetricAlarm[] = [];
      for (const alarm of alarms.filter(({ StateValue }) => StateValue === "ALARM"))
        if (!(await isTooYoung(deployed, alarm))) raised.push(alarm);
      must(raised.length === 0, `raised: ${raised.map(({ AlarmName }) => AlarmName).join(", ")}`);
      return `none of ${alarms.length}`;
    },
  },
  {
    name: "subscriptions",
    does: "reads who gets the mails of the topic",
    expects: "each address of the template, confirmed, without a filter",
    remedy:
      'open the mail of AWS Notifications and confirm it. An address that is missing was unsubscribed, perhaps by a scanner of links: see docs/aws.md, "Mails"',
    see: async ({ deployed }) => {
      const stated = deployed.stated("AWS::SNS::Subscription");
      const own = deployed.stated("AWS::SNS::Topic").map(({ id }) => id);
      const [TopicArn] = [...own, ...stated.map(({ properties }) => properties["TopicArn"])];
      if (typeof TopicArn !== "string") throw new Skipped("the topic is one of yours, and gets no address");
      const { sns } = deployed.clients;
      const { Subscriptions = [] } = await sns.listSubscriptionsByTopic({ TopicArn });
      const addresses = stated.map(({ properties }) => properties["Endpoint"]);
      const missing = addresses.filter((each) => !Subscriptions.some(({ Endpoint }) => Endpoint === each));
      must(missing.length === 0, `not subscribed: ${missing.join(", ")}`);
      const isConfirmed = ({ SubscriptionArn = "" }) => SubscriptionArn.startsWith("arn:");
      const pending = Subscriptions.filter((one) => !isConfirmed(one));
      must(pending.length === 0, `not confirmed: ${pending.map(({ Endpoint }) => Endpoint).join(", ")}`);
      await mustBeAsStated(deployed, stated);
      if (Subscriptions.length === 0) throw new Skipped("no address is subscribed, so no mail is sent");
      const open: string[] = [];
      for (const { SubscriptionArn, Protocol, Endpoint = "" } of Subscriptions) {
        const { Attributes } = await sns.getSubscriptionAttributes({ SubscriptionArn });
        const isKept = Attributes?.["ConfirmationWasAuthenticated"] === "true";
        if (Protocol === "email" && !isKept) open.push(Endpoint);
      }
      const more = open.length === 0 ? "" : `; a link in their mails unsubscribes ${open.join(", ")}`;
      return `${Subscriptions.length} confirmed${more}`;
    },
  },
];

/** Of queries. */
const RESULTS = "athena-results/";

/** What may be deleted, after how many days at the earliest, and whether it must be. */
const EXPIRING = [
  { folder: FOLDERS.runs, days: 14, must: true },
  { folder: RESULTS, days: 1, must: true },
  { folder: FOLDERS.runLogs, days: 400, must: false },
] as const;

/** Storage that a file is read from at once. Any other is a doubt. */
const READABLE: ReadonlySet<string> = new Set(["STANDARD_IA", "ONEZONE_IA", "GLACIER_IR"]);

const prefixOf = ({ Filter, Prefix }: LifecycleRule): string =>
  Filter?.Prefix ?? Filter?.And?.Prefix ?? Prefix ?? "";

/** What a rule does to the folders of the deployment, and must not. One that names tags or sizes may mean any file. */
function wrongIn(rule: LifecycleRule): readonly string[] {
  const prefix = prefixOf(rule);
  const { Days, Date: date } = rule.Expiration ?? {};
  const reached = [...Object.values(FOLDERS), RESULTS].filter(
    (folder) => folder.startsWith(prefix) || prefix.startsWith(folder),
  );
  if (reached.length === 0) return [];
  const archived = [...(rule.Transitions ?? []), ...(rule.NoncurrentVersionTransitions ?? [])]
    .map(({ StorageClass = "" }) => StorageClass)
    .filter((each) => !READABLE.has(each));
  const may = EXPIRING.find(({ folder }) => reached.every((each) => each === folder));
  const isExpiry = Days !== undefined || date !== undefined;
  const isWrong = isExpiry && !(may !== undefined && date === undefined && (Days ?? 0) >= may.days);
  return [
    ...archived.map((each) => `a lifecycle rule archives files (${each})`),
    ...(isWrong
      ? [
          `a lifecycle rule deletes ${prefix || "everything"} ${date === undefined ? `after ${Days} days` : `on ${date.toISOString().slice(0, 10)}`}`,
        ]
      : []),
  ];
}

const publicationSchema = z.object({ publication: z.string(), snapshot_id: z.string() });

/** The tables that have one partition for each account. */
const TABLES_OF_ACCOUNTS = ["publications", "sync_runs", "events"] as const;

async function wrongInPartition(
  { clients, database: DatabaseName, bucket }: Deployed,
  TableName: TableName,
  account: string,
  folder: string,
): Promise<readonly string[]> {
  const { Partitions = [] } = await clients.glue.getPartitions({ DatabaseName, TableName });
  const own = Partitions.find(({ Values = [] }) => Values[0] === account);
  const location = own?.StorageDescriptor?.Location ?? "nothing";
  if (location.replace(/\/?$/, "/") !== `s3://${bucket}/${folder}`)
    return [`the partition of ${TableName} shows ${location} instead of ${folder}`];
  const { Table } = await clients.glue.getTable({ DatabaseName, Name: TableName });
  // A change of the settings reaches the columns of a partition with the next run.
  const storage = (given: StorageDescriptor = {}) => without(given, "Columns Location");
  const { differences } = compare(storage(Table?.StorageDescriptor), storage(own?.StorageDescriptor));
  return differences.map((each) => `the partition of ${TableName} is not as its table: ${each}`);
}

async function alarmsOf(deployed: Deployed): Promise<readonly MetricAlarm[]> {
  const AlarmNamePrefix = `${deployed.output("Step4Query")}-`;
  const pages = paginateDescribeAlarms({ client: deployed.clients.cloudWatch }, { AlarmNamePrefix });
  const own = new Set(deployed.ofType("AWS::CloudWatch::Alarm"));
  const found = (await Array.fromAsync(pages, ({ MetricAlarms = [] }) => MetricAlarms)).flat();
  return found.filter(({ AlarmName = "" }) => own.has(AlarmName));
}

/** Of an alarm `stale`: its hours have not passed since the account was deployed, or it has published just now. */
async function isTooYoung(deployed: Deployed, { AlarmName, EvaluationPeriods = 0 }: MetricAlarm) {
  const start = deployed.output("Step4Query");
  const account = deployed.accounts.find((each) => AlarmName === `${start}-${each}-stale`);
  if (account === undefined) return false;
  const { s3, scheduler } = deployed.clients;
  const schedules = deployed
    .stated("AWS::Scheduler::Schedule")
    .map(({ id: Name, properties }) =>
      scheduler.getSchedule({ GroupName: z.string().safeParse(properties["GroupName"]).data, Name }),
    );
  const own = (await Promise.all(schedules)).find(({ Target }) =>
    Target?.Input?.includes(`"account":"${account}"`),
  );
  const Key = (await deployed.keys(layout(account).publications)).at(-1);
  const published = Key === undefined ? undefined : await s3.headObject({ Bucket: deployed.bucket, Key });
  const known = { deployedAt: own?.CreationDate, publishedAt: published?.LastModified };
  return !isReallyStale({ ...known, hours: EvaluationPeriods }, new Date());
}

interface Publishing {
  /** `staleAfterHours`. */
  readonly hours: number;
  readonly deployedAt: Date | undefined;
  readonly publishedAt: Date | undefined;
}

/** Whether an alarm that is raised says more than that the account is new. What is not known is no excuse. */
export function isReallyStale({ hours, deployedAt, publishedAt }: Publishing, now: Date): boolean {
  const hoursSince = (date: Date | undefined) => (now.getTime() - (date?.getTime() ?? 0)) / HOUR_MS;
  return hoursSince(deployedAt) >= hours && hoursSince(publishedAt) >= SEEN_HOURS;
}

const HOUR_MS = 60 * 60_000;
/** An alarm counts whole hours, and sees a publication soon after its hour ends. */
const SEEN_HOURS = 2;

async function analystPolicy(deployed: Deployed): Promise<string> {
  const { iam } = deployed.clients;
  const PolicyArn = deployed.output("AnalystPolicyArn");
  const { Policy } = await iam.getPolicy({ PolicyArn });
  const VersionId = Policy?.DefaultVersionId;
  const { PolicyVersion } = await iam.getPolicyVersion({ PolicyArn, VersionId });
  return decodeURIComponent(PolicyVersion?.Document ?? "");
}

interface Call {
  readonly action: string;
  readonly resources: readonly string[];
  readonly isAllowed: boolean;
}

async function analystCalls(deployed: Deployed): Promise<readonly Call[]> {
  const [, partition = "", , , id = ""] = deployed.output("AnalystPolicyArn").split(":");
  const here = `${await deployed.clients.glue.config.region()}:${id}`;
  const glue = `arn:${partition}:glue:${here}`;
  const table = [
    `${glue}:catalog`,
    `${glue}:database/${deployed.database}`,
    `${glue}:table/${deployed.database}/events`,
  ];
  const workgroup = [`arn:${partition}:athena:${here}:workgroup/${deployed.output("Step4Query")}`];
  const file = (key: string) => [`arn:${partition}:s3:::${deployed.bucket}/${key}`];
  return [
    { action: "athena:StartQueryExecution", resources: workgroup, isAllowed: true },
    { action: "athena:GetQueryResults", resources: workgroup, isAllowed: true },
    { action: "glue:GetTable", resources: table, isAllowed: true },
    { action: "glue:GetPartitions", resources: table, isAllowed: true },
    { action: "s3:GetObject", resources: file("snapshots/uk/part-00000.ndjson.gz"), isAllowed: true },
    { action: "glue:UpdateTable", resources: table, isAllowed: false },
    { action: "s3:GetObject", resources: file("accounts/uk/lease.json"), isAllowed: false },
    { action: "s3:DeleteObject", resources: file("snapshots/uk/part-00000.ndjson.gz"), isAllowed: false },
  ];
}

function wrongDecisions(policy: string, calls: readonly Call[]): readonly string[] {
  const { Statement } = z.object({ Statement: z.unknown() }).parse(JSON.parse(policy));
  const statements = parseStatements(Statement);
  return calls
    .filter((call) => isAllowed(statements, { ...call, conditions: {} }) !== call.isAllowed)
    .map(
      ({ action, resources, isAllowed: expected }) =>
        `${action} on ${resources.at(-1)} is ${expected ? "refused" : "allowed"}`,
    );
}

const strings = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const documentSchema = z.object({ Statement: z.array(z.unknown()) });
const statementSchema = z.object({
  Effect: z.literal("Allow"),
  Action: strings,
  Resource: strings,
  Condition: z.record(z.string(), z.record(z.string(), strings)).default({}),
});

interface Needed {
  /** The ARN. */
  readonly role: string;
  readonly actions: readonly string[];
  readonly resource: string;
  readonly context: readonly (readonly [key: string, value: string])[];
}

/** A call for each resource and each value of a condition. `open`: the statements that name what is not known here. */
async function needed({ clients, stated }: Deployed) {
  const calls: Needed[] = [];
  let open = 0;
  for (const { properties } of [...stated("AWS::IAM::Policy"), ...stated("AWS::IAM::ManagedPolicy")]) {
    for (const RoleName of z.array(z.string()).parse(properties["Roles"] ?? [])) {
      const { Role: { Arn: role = "" } = {} } = await clients.iam.getRole({ RoleName });
      for (const statement of documentSchema.parse(properties["PolicyDocument"]).Statement) {
        const {
          Action: actions,
          Resource = [],
          Condition = {},
        } = statementSchema.safeParse(statement).data ?? {};
        if (actions === undefined) open += 1;
        else
          for (const resource of Resource.map(instance))
            for (const context of contextsOf(Object.values(Condition)))
              calls.push({ role, actions, resource, context });
      }
    }
  }
  return { calls, open };
}

/** Each value of each key once. */
function contextsOf(
  conditions: readonly Readonly<Record<string, readonly string[]>>[],
): readonly Needed["context"][] {
  const keys = conditions.flatMap((each) => Object.entries(each));
  const most = Math.max(1, ...keys.map(([, values]) => values.length));
  return Array.from({ length: most }, (_, n) =>
    keys.map(([key, values]) => [key, instance(values[n % values.length] ?? "")] as const),
  );
}

/** A name that a pattern stands for; IAM takes no wildcards in a simulation, except the one for everything. */
const instance = (pattern: string): string => (pattern === "*" ? pattern : pattern.replaceAll("*", "x"));
