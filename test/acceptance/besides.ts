// Rows for what is in no property of a resource of the template: what somebody attached to one, and what CloudFormation finds
// by itself.

import type { Deployed } from "./deployment.ts";
import { permissionsIn } from "./described-compute.ts";
import { unlessMissing } from "./kind.ts";
import { listed, must, type Row, UNDO, until } from "./row.ts";

interface Attached {
  readonly what: string;
  /** The names of all that there are. */
  readonly find: (deployed: Deployed) => Promise<readonly string[]>;
  /** The names of those that the template of the stack states, also outside of the deployment. */
  readonly stated?: (deployed: Deployed) => readonly string[];
}

/** What each may have, and must not have but for what is stated. */
const ATTACHED: readonly Attached[] = [
  {
    what: "a policy in a role",
    find: (deployed) =>
      ofEach(deployed, "AWS::IAM::Role", async ({ iam }, RoleName) => {
        const { PolicyNames = [] } = await iam.listRolePolicies({ RoleName });
        return PolicyNames.map((name) => `${RoleName} ${name}`);
      }),
    stated: ({ statedInStack }) =>
      statedInStack("AWS::IAM::Policy").flatMap(({ properties: { PolicyName, Roles } }) =>
        [Roles].flat().map((role) => `${String(role)} ${String(PolicyName)}`),
      ),
  },
  {
    what: "a policy attached to a role",
    find: (deployed) =>
      ofEach(deployed, "AWS::IAM::Role", async ({ iam }, RoleName) => {
        const { AttachedPolicies = [] } = await iam.listAttachedRolePolicies({ RoleName });
        return AttachedPolicies.map(({ PolicyArn }) => `${RoleName} ${PolicyArn}`);
      }),
    stated: ({ statedInStack }) => [
      ...statedInStack("AWS::IAM::Role").flatMap(({ id, properties: { ManagedPolicyArns = [] } }) =>
        [ManagedPolicyArns].flat().map((arn) => `${id} ${String(arn)}`),
      ),
      ...statedInStack("AWS::IAM::ManagedPolicy").flatMap(({ id, properties: { Roles = [] } }) =>
        [Roles].flat().map((role) => `${String(role)} ${id}`),
      ),
    ],
  },
  {
    what: "a permission to call the function",
    find: async ({ clients: { lambda }, functionName, functionArns }) => {
      const [ofAlias, ofItself] = await Promise.all(
        [functionName, functionName.replace(/:[^:]+$/, "")].map(async (FunctionName) => {
          const found = await lambda.getPolicy({ FunctionName }).catch(unlessMissing);
          return permissionsIn(found?.Policy ?? '{"Statement":[]}');
        }),
      );
      const [aliasArn = "", arn = ""] = functionArns;
      const name = (at: string, permission: Permission) =>
        `${at} ${JSON.stringify(permission.Principal)} ${permission.SourceArn ?? "everything"}`;
      return [
        ...(ofAlias ?? []).map((each) => name(aliasArn, each)),
        ...(ofItself ?? []).map((each) => name(arn, each)),
      ];
    },
    stated: ({ statedInStack }) =>
      statedInStack("AWS::Lambda::Permission").map(
        ({ properties: { FunctionName, Principal, SourceArn } }) =>
          `${String(FunctionName)} ${JSON.stringify(Principal)} ${String(SourceArn ?? "everything")}`,
      ),
  },
  {
    what: "an alias",
    find: async ({ clients: { lambda }, functionName }) => {
      const { Aliases = [] } = await lambda.listAliases({
        FunctionName: functionName.replace(/:[^:]+$/, ""),
      });
      return Aliases.map(({ Name = "" }) => Name);
    },
    stated: ({ statedInStack }) =>
      statedInStack("AWS::Lambda::Alias").map(({ properties: { Name } }) => String(Name)),
  },
  {
    what: "an address of the function",
    find: async ({ clients: { lambda }, functionName }) => {
      const FunctionName = functionName.replace(/:[^:]+$/, "");
      const { FunctionUrlConfigs = [] } = await lambda.listFunctionUrlConfigs({ FunctionName });
      return FunctionUrlConfigs.map(({ FunctionUrl = "" }) => FunctionUrl);
    },
  },
  {
    what: "a source of events for the function",
    find: async ({ clients: { lambda }, functionName }) => {
      const names = [functionName.replace(/:[^:]+$/, ""), functionName];
      const pages = names.map((FunctionName) => lambda.listEventSourceMappings({ FunctionName }));
      const all = (await Promise.all(pages)).flatMap(({ EventSourceMappings = [] }) => EventSourceMappings);
      return all.map(({ EventSourceArn = "" }) => EventSourceArn);
    },
  },
  {
    what: "provisioned concurrency",
    find: async ({ clients: { lambda }, functionName }) => {
      const FunctionName = functionName.replace(/:[^:]+$/, "");
      const { ProvisionedConcurrencyConfigs = [] } = await lambda.listProvisionedConcurrencyConfigs({
        FunctionName,
      });
      return ProvisionedConcurrencyConfigs.map(({ FunctionArn = "" }) => FunctionArn);
    },
  },
  {
    what: "a rule that starts the function",
    find: async ({ clients: { events }, functionArns }) => {
      const pages = functionArns.map((TargetArn) => events.listRuleNamesByTarget({ TargetArn }));
      return (await Promise.all(pages)).flatMap(({ RuleNames = [] }) => RuleNames);
    },
    stated: ({ statedInStack }) =>
      statedInStack("AWS::Events::Rule").map(({ id }) => id.split("|").at(-1) ?? id),
  },
  {
    what: "a schedule in the group",
    find: (deployed) =>
      ofEach(deployed, "AWS::Scheduler::ScheduleGroup", async ({ scheduler }, GroupName) => {
        const { Schedules = [] } = await scheduler.listSchedules({ GroupName, MaxResults: 100 });
        return Schedules.map(({ Name = "" }) => Name);
      }),
    stated: ({ statedInStack }) => statedInStack("AWS::Scheduler::Schedule").map(({ id }) => id),
  },
  {
    what: "a reader of the failure queue",
    find: async ({ clients: { lambda }, ofType, arn }) => {
      const [url = ""] = ofType("AWS::SQS::Queue");
      const { EventSourceMappings = [] } = await lambda.listEventSourceMappings({
        EventSourceArn: arn("sqs", url.split("/").at(-1) ?? ""),
      });
      return EventSourceMappings.map(({ FunctionArn = "" }) => FunctionArn);
    },
  },
  {
    what: "a reader of the log",
    find: (deployed) =>
      ofEach(deployed, "AWS::Logs::LogGroup", async ({ logs }, logGroupName) => {
        const { subscriptionFilters = [] } = await logs.describeSubscriptionFilters({ logGroupName });
        return subscriptionFilters.map(({ filterName = "" }) => filterName);
      }),
    stated: ({ statedInStack }) => statedInStack("AWS::Logs::SubscriptionFilter").map(({ id }) => id),
  },
  {
    what: "a subscription to the topic",
    find: (deployed) =>
      ofEach(deployed, "AWS::SNS::Topic", async ({ sns }, TopicArn) => {
        const { Subscriptions = [] } = await sns.listSubscriptionsByTopic({ TopicArn });
        return Subscriptions.map(({ Protocol, Endpoint }) => `${Protocol} ${Endpoint}`);
      }),
    stated: ({ statedInStack }) =>
      statedInStack("AWS::SNS::Subscription").map(
        ({ properties: { Protocol, Endpoint } }) => `${String(Protocol)} ${String(Endpoint)}`,
      ),
  },
  {
    what: "a grant of the key",
    find: (deployed) =>
      ofEach(deployed, "AWS::KMS::Key", async ({ kms }, KeyId) => {
        const { Grants = [] } = await kms.listGrants({ KeyId });
        return Grants.map(({ GranteePrincipal, GrantId = "" }) => GranteePrincipal ?? GrantId);
      }),
  },
];

type Permission = ReturnType<typeof permissionsIn>[number];

/** Of each resource of the deployment that has this type. */
async function ofEach(
  { clients, stated }: Deployed,
  type: string,
  find: (clients: Deployed["clients"], id: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return (await Promise.all(stated(type).map(({ id }) => find(clients, id)))).flat();
}

export const BESIDES: readonly Row[] = [
  {
    name: "nothing else",
    does: `looks for ${ATTACHED.map(({ what }) => what).join(", ")}`,
    expects: "none but those of the template",
    remedy:
      "remove it, or state it in your app. What is yours, and right: run the acceptance with --except '<name>=<the reason>'; a name is what stands before the colon",
    see: async ({ deployed, exceptions = new Map() }) => {
      const found = ATTACHED.map(async ({ what, find, stated }) => {
        const known = new Set(stated?.(deployed) ?? []);
        const more = (await find(deployed)).filter((name) => !known.has(name) && !exceptions.has(name));
        return more.map((name) => `${name}: ${what} that the template does not state`);
      });
      const more = (await Promise.all(found)).flat();
      must(more.length === 0, listed(more));
      return `none of ${ATTACHED.length} kinds`;
    },
  },
  {
    name: "drift",
    does: "lets CloudFormation compare the stack with its template",
    expects: "no resource of the deployment has drifted",
    remedy: UNDO,
    notOnEmulator: "it detects no drift",
    see: async ({ deployed }) => {
      const { cloudFormation } = deployed.clients;
      const StackName = deployed.stackName;
      const { StackDriftDetectionId } = await cloudFormation.detectStackDrift({ StackName });
      const end = await until("the detection of drift", 15, async () => {
        const found = await cloudFormation.describeStackDriftDetectionStatus({ StackDriftDetectionId });
        return found.DetectionStatus === "DETECTION_IN_PROGRESS" ? undefined : found;
      });
      // The detection fails where one resource could not be compared, and says so; the others have been.
      const drifts = [];
      for (let NextToken: string | undefined; ; ) {
        const page = await cloudFormation.describeStackResourceDrifts({ StackName, NextToken });
        drifts.push(...(page.StackResourceDrifts ?? []));
        NextToken = page.NextToken;
        if (NextToken === undefined) break;
      }
      const own = drifts.filter(({ LogicalResourceId = "" }) => deployed.isOwn(LogicalResourceId));
      const drifted = own.filter(({ StackResourceDriftStatus: status = "" }) => !COMPARED.has(status));
      const said = drifted.map(
        ({ LogicalResourceId, StackResourceDriftStatus, PropertyDifferences = [] }) => {
          const properties = PropertyDifferences.map(
            ({ PropertyPath, ExpectedValue, ActualValue }) =>
              `${PropertyPath}: expected ${ExpectedValue}, found ${ActualValue}`,
          );
          return `${LogicalResourceId} ${StackResourceDriftStatus} ${properties.join(", ")}`.trimEnd();
        },
      );
      must(said.length === 0, listed(said));
      must(end.DetectionStatus === "DETECTION_COMPLETE", String(end.DetectionStatusReason));
      const inSync = own.filter(({ StackResourceDriftStatus }) => StackResourceDriftStatus === "IN_SYNC");
      return `${inSync.length} of ${deployed.resources.length} resources in sync; CloudFormation does not compare the others`;
    },
  },
];

/** `NOT_CHECKED`: of a type that CloudFormation does not compare. */
const COMPARED: ReadonlySet<string> = new Set(["IN_SYNC", "NOT_CHECKED"]);
