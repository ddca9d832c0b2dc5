// Alarms, the dashboard, the log and the topic, as AWS describes them.

import { capitalized, type Kind, tagsOf, without } from "./kind.ts";

/** Of an alarm's state, which the row "alarms that are raised" looks at. */
const OF_A_STATE =
  "StateValue StateReason StateReasonData StateUpdatedTimestamp StateTransitionedTimestamp EvaluationState";

export const ALARMS: readonly Kind[] = [
  {
    type: "AWS::CloudWatch::Alarm",
    read: async ({ cloudWatch }, { id }) => {
      const { MetricAlarms: [found] = [] } = await cloudWatch.describeAlarms({ AlarmNames: [id] });
      if (found === undefined) return undefined;
      const { Tags } = await cloudWatch.listTagsForResource({ ResourceARN: found.AlarmArn });
      const ofItself = `AlarmArn AlarmConfigurationUpdatedTimestamp ${OF_A_STATE}`;
      return { ...without(found, ofItself), ...tagsOf(Tags) };
    },
    filledIn: { ActionsEnabled: [true], "Metrics.ReturnData": [true] },
  },
  {
    type: "AWS::Logs::MetricFilter",
    read: async ({ logs }, { id, text }) => {
      const { metricFilters = [] } = await logs.describeMetricFilters({ logGroupName: text("LogGroupName") });
      const found = metricFilters.find(({ filterName }) => filterName === id);
      return found && Object(capitalized(without(found, "filterName creationTime logGroupName")));
    },
    filledIn: { ApplyOnTransformedLogs: [false], "MetricTransformations.Unit": ["None"] },
  },
];

export const DASHBOARD: readonly Kind[] = [
  {
    type: "AWS::CloudWatch::Dashboard",
    read: async ({ cloudWatch }, { id }) => {
      const { DashboardArn, ...found } = await cloudWatch.getDashboard({ DashboardName: id });
      const { Tags } = await cloudWatch.listTagsForResource({ ResourceARN: DashboardArn });
      return { ...without(found, ""), ...tagsOf(Tags) };
    },
  },
  {
    type: "AWS::Logs::QueryDefinition",
    read: async ({ logs }, { id }) => {
      for (let nextToken: string | undefined; ; ) {
        const page = await logs.describeQueryDefinitions({ nextToken });
        const found = page.queryDefinitions?.find(({ queryDefinitionId }) => queryDefinitionId === id);
        nextToken = page.nextToken;
        if (found !== undefined) return Object(capitalized(without(found, "queryDefinitionId lastModified")));
        if (nextToken === undefined) return undefined;
      }
    },
    filledIn: { QueryLanguage: ["CWLI"] },
  },
];

export const LOG: readonly Kind[] = [
  {
    type: "AWS::Logs::LogGroup",
    read: async ({ logs }, { id, arn }) => {
      const { logGroups = [] } = await logs.describeLogGroups({ logGroupNamePrefix: id });
      const found = logGroups.find(({ logGroupName }) => logGroupName === id);
      if (found === undefined) return undefined;
      const { tags } = await logs.listTagsForResource({ resourceArn: arn("logs", `log-group:${id}`) });
      const ofItself = "logGroupName arn logGroupArn creationTime storedBytes metricFilterCount";
      return { ...Object(capitalized(without(found, ofItself))), ...tagsOf(tags) };
    },
    filledIn: {
      BearerTokenAuthenticationEnabled: [false],
      DeletionProtectionEnabled: [false],
      LogGroupClass: ["STANDARD"],
    },
  },
];

const OF_A_TOPIC = "TopicArn Owner Policy SubscriptionsConfirmed SubscriptionsPending SubscriptionsDeleted";

export const TOPIC: readonly Kind[] = [
  {
    type: "AWS::SNS::Topic",
    read: async ({ sns }, { id }) => {
      const { Attributes } = await sns.getTopicAttributes({ TopicArn: id });
      const { Tags } = await sns.listTagsForResource({ ResourceArn: id });
      // The effective policy is made of the delivery policy, which is compared.
      return { ...without(Attributes, `${OF_A_TOPIC} EffectiveDeliveryPolicy`), ...tagsOf(Tags) };
    },
    filledIn: { FifoTopic: [false], SignatureVersion: [1], TracingConfig: ["PassThrough"] },
  },
  {
    type: "AWS::SNS::TopicPolicy",
    read: async ({ sns }, { text }) => {
      const { Attributes } = await sns.getTopicAttributes({ TopicArn: text("Topics") });
      return { PolicyDocument: Attributes?.["Policy"] };
    },
  },
];

const OF_A_SUBSCRIPTION =
  "SubscriptionArn Owner ConfirmationWasAuthenticated PendingConfirmation EffectiveDeliveryPolicy SubscriptionPrincipal";

/** Found by its address: one that somebody has made again has another ARN. */
export const SUBSCRIPTION: Kind = {
  type: "AWS::SNS::Subscription",
  read: async ({ sns }, { text }) => {
    const { Subscriptions = [] } = await sns.listSubscriptionsByTopic({ TopicArn: text("TopicArn") });
    const found = Subscriptions.find(({ Endpoint }) => Endpoint === text("Endpoint"));
    const { SubscriptionArn = "", Protocol } = found ?? {};
    // A subscription that is not confirmed has no attributes.
    if (!SubscriptionArn.startsWith("arn:")) return found && { Protocol };
    const { Attributes } = await sns.getSubscriptionAttributes({ SubscriptionArn });
    return without(Attributes, OF_A_SUBSCRIPTION);
  },
  filledIn: { RawMessageDelivery: [false] },
};
