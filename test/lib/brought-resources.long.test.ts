// What an app may bring to a deployment: a bucket, a key, a permissions boundary, a log group, a topic, a schedule
// group, a VPC. None of them is made then, and the permissions follow.

import { Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Bucket, CfnBucket } from "aws-cdk-lib/aws-s3";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, it } from "vitest";
import { EventSync, type EventSyncProps } from "../../lib/event-sync.ts";
import { newApp, type Resource, type Synthesized, statements, templateOf } from "./synthesized.ts";

const SETTINGS = {
  baseUrl: "https://brand.example.net",
  authUrl: "https://login.example.net",
  alarmEmail: "data-team@example.net",
  accounts: { uk: { schedule: "rate(1 day)", nextPage: "all" } },
};
const KEY_ARN = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd";
const ENV = { account: "123456789012", region: "eu-west-1" };

interface Deployed {
  readonly template: Synthesized;
  readonly sync: EventSync;
  readonly warnings: readonly string[];
}

function deployed(bring: (stack: Stack) => Partial<EventSyncProps>, more: object = {}): Deployed {
  const stack = new Stack(newApp(), "Platform", { env: ENV });
  const sync = new EventSync(stack, "Events", { settings: { ...SETTINGS, ...more }, ...bring(stack) });
  const template = templateOf(stack);
  const warnings = Annotations.fromStack(stack).findWarning("*", Match.anyValue());
  return { template, sync, warnings: warnings.map(({ entry }) => String(entry.data)) };
}

const statementsOf = (template: Synthesized, type: string, pattern: RegExp) =>
  template
    .all(type)
    .filter((resource: Resource) => pattern.test(resource.name))
    .flatMap((resource) => statements(resource));
const ofFunction = (template: Synthesized) => statementsOf(template, "AWS::IAM::Policy", /FunctionRole/);
const ofAnalysts = (template: Synthesized) => statementsOf(template, "AWS::IAM::ManagedPolicy", /Analysts/);

describe("an imported bucket", () => {
  const { template, sync, warnings } = deployed((stack) => ({
    bucket: Bucket.fromBucketName(stack, "Lake", "company-lake"),
  }));

  it("is used, and none is made", () => {
    const environment = template.only("AWS::Lambda::Function").properties["Environment"];

    expect([...template.types]).not.toContain("AWS::S3::Bucket");
    expect([...template.types]).not.toContain("AWS::S3::BucketPolicy");
    expect(environment).toMatchObject({ Variables: { BRAND_EVENTS_BUCKET: "company-lake" } });
    expect(template.outputs.get("EventsWarehouseLocation")).toBe("s3://company-lake");
    expect(sync.bucket.bucketName).toBe("company-lake");
  });

  it("is the only one that the function and analysts may read and write", () => {
    const resources = [...ofFunction(template), ...ofAnalysts(template)]
      .filter(({ Action }) => Action.some((action) => action.startsWith("s3:")))
      .flatMap(({ Resource }) => Resource);

    expect(resources.length).toBeGreaterThan(10);
    expect(resources.filter((arn) => !arn.startsWith("arn:<AWS::Partition>:s3:::company-lake"))).toEqual([]);
  });

  it("needs lifecycle rules, a policy and versions, says a warning", () => {
    expect(warnings).toEqual([
      expect.stringContaining(
        "The bucket Platform/Lake needs lifecycle rules, a policy, versions, which this app does not give it.",
      ),
    ]);
  });
});

describe("a bucket of the app", () => {
  const { template, warnings } = deployed((stack) => ({
    bucket: new Bucket(stack, "Lake", { versioned: true }),
  }));

  it("gets the lifecycle rules for the folders of the deployment, and for nothing else", () => {
    const { LifecycleConfiguration } = template.only("AWS::S3::Bucket").properties;

    expect(LifecycleConfiguration).toMatchObject({ Rules: expect.any(Array) });
    expect(JSON.stringify(LifecycleConfiguration)).toContain('"Id":"staging","Prefix":"runs/"');
    expect(JSON.stringify(LifecycleConfiguration)).toContain('"Id":"run-log","Prefix":"run-log/"');
    expect(JSON.stringify(LifecycleConfiguration).match(/"Id"/g)).toHaveLength(10);
    expect(JSON.stringify(LifecycleConfiguration).match(/"Prefix"/g)).toHaveLength(10);
  });

  it("gets the policy that refuses to overwrite published files", () => {
    const policy = template.only("AWS::S3::BucketPolicy");

    expect(policy.properties).toMatchObject({ PolicyDocument: { Statement: [{ Sid: "WriteOnce" }] } });
    expect(statements(policy)).toMatchObject([{ Effect: "Deny", Action: ["s3:PutObject"] }]);
  });

  it("raises no warning with versions, and one without", () => {
    const without = deployed((stack) => ({ bucket: new Bucket(stack, "Lake") }));

    expect(warnings).toEqual([]);
    expect(without.warnings).toEqual([expect.stringContaining("needs versions, which this app")]);
  });

  it("raises one where its versions are suspended", () => {
    const suspended = deployed((stack) => {
      const bucket = new Bucket(stack, "Lake", { versioned: true });
      const resource = bucket.node.defaultChild;
      if (resource instanceof CfnBucket) resource.versioningConfiguration = { status: "Suspended" };
      return { bucket };
    });

    expect(suspended.warnings).toEqual([expect.stringContaining("needs versions, which this app")]);
  });
});

describe("the bucket that an earlier deployment left", () => {
  const { template, warnings } = deployed(() => ({}), { existingBucket: "left-bucket" });

  it("is used, and gets the same policy again", () => {
    const own = statements(deployed(() => ({})).template.only("AWS::S3::BucketPolicy"));
    const policy = template.only("AWS::S3::BucketPolicy");

    const withoutName = (text: unknown): string =>
      JSON.stringify(text).replaceAll(
        /<EventsStorageBucket\w+\.Arn>|arn:<AWS::Partition>:s3:::left-bucket/g,
        "bucket",
      );
    expect([...template.types]).not.toContain("AWS::S3::Bucket");
    expect(policy.properties["Bucket"]).toBe("left-bucket");
    expect(withoutName(statements(policy))).toBe(withoutName(own));
    expect(warnings).toEqual([]);
  });

  it("is not used beside one that the app brings", () => {
    const both = () =>
      deployed((stack) => ({ bucket: new Bucket(stack, "Lake") }), { existingBucket: "left-bucket" });

    expect(both).toThrow("expected the prop bucket or settings.existingBucket (left-bucket), and got both");
  });
});

describe("a customer's key", () => {
  const { template, warnings } = deployed((stack) => ({ encryptionKey: new Key(stack, "Key") }));
  const [key] = template.all("AWS::KMS::Key");
  const arn = `<${key?.name}.Arn>`;

  it("encrypts the bucket, the results of queries, the secrets and the topic, and no other key is made", () => {
    const text = (type: string): string =>
      JSON.stringify(template.all(type).map(({ properties }) => properties));

    expect(template.all("AWS::KMS::Key")).toHaveLength(1);
    expect(template.only("AWS::S3::Bucket").properties["BucketEncryption"]).toEqual({
      ServerSideEncryptionConfiguration: [
        {
          BucketKeyEnabled: true,
          ServerSideEncryptionByDefault: { KMSMasterKeyID: arn, SSEAlgorithm: "aws:kms" },
        },
      ],
    });
    expect(text("AWS::Athena::WorkGroup")).toContain(
      `"EncryptionConfiguration":{"EncryptionOption":"SSE_KMS","KmsKey":"${arn}"}`,
    );
    expect(
      template.all("AWS::SecretsManager::Secret").map(({ properties }) => properties["KmsKeyId"]),
    ).toEqual([arn, arn]);
    expect(template.only("AWS::SNS::Topic").properties["KmsMasterKeyId"]).toBe(arn);
  });

  it("may be used by the function and by analysts, on behalf of the services only", () => {
    const uses = (found: readonly { Action: readonly string[] }[]) =>
      found.filter(({ Action }) => Action.some((action) => action.startsWith("kms:")));
    const via = (...services: readonly string[]) => ({
      StringEquals: { "kms:ViaService": services.map((each) => `${each}.eu-west-1.<AWS::URLSuffix>`) },
    });

    expect(uses(ofFunction(template))).toMatchObject([
      {
        Effect: "Allow",
        Action: ["kms:Decrypt", "kms:GenerateDataKey"],
        Resource: [arn],
        Condition: via("s3", "secretsmanager"),
      },
    ]);
    expect(uses(ofAnalysts(template))).toMatchObject([
      { Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey"], Resource: [arn] },
    ]);
  });

  it("may be used by the alarms, which its policy says", () => {
    expect(JSON.stringify(key?.properties["KeyPolicy"])).toContain('"Sid":"AlarmsMayEncrypt"');
    expect(warnings).toEqual([]);
  });

  it("that is imported raises a warning: its policy must allow the alarms", () => {
    const imported = deployed((stack) => ({ encryptionKey: Key.fromKeyArn(stack, "Key", KEY_ARN) }));

    expect(imported.template.only("AWS::SNS::Topic").properties["KmsMasterKeyId"]).toBe(KEY_ARN);
    expect(imported.warnings).toEqual([
      expect.stringContaining(
        "It must allow cloudwatch.amazonaws.com and events.amazonaws.com kms:Decrypt and kms:GenerateDataKey*",
      ),
    ]);
  });

  it("of an imported bucket may be used too, and encrypts the results", () => {
    const { template: found } = deployed((stack) => ({
      bucket: Bucket.fromBucketAttributes(stack, "Lake", {
        bucketName: "company-lake",
        encryptionKey: Key.fromKeyArn(stack, "Key", KEY_ARN),
      }),
    }));

    expect(JSON.stringify(ofFunction(found))).toContain(`"Resource":["${KEY_ARN}"]`);
    expect(JSON.stringify(ofAnalysts(found))).toContain(`"Resource":["${KEY_ARN}"]`);
    expect(JSON.stringify(found.only("AWS::Athena::WorkGroup").properties)).toContain(
      `"KmsKey":"${KEY_ARN}"`,
    );
  });
});

it("a permissions boundary is that of every role", () => {
  const { template } = deployed((stack) => ({
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "company-boundary"),
  }));

  const boundaries = template
    .all("AWS::IAM::Role")
    .map(({ properties }) => properties["PermissionsBoundary"]);
  expect(boundaries.length).toBeGreaterThanOrEqual(3);
  expect(new Set(boundaries)).toEqual(
    new Set(["arn:<AWS::Partition>:iam::123456789012:policy/company-boundary"]),
  );
});

it("a log group is the function's and the dashboard's, and none is made", () => {
  const { template, sync } = deployed((stack) => ({
    logGroup: LogGroup.fromLogGroupName(stack, "Logs", "/company/events"),
  }));

  expect([...template.types]).not.toContain("AWS::Logs::LogGroup");
  expect(template.only("AWS::Lambda::Function").properties["LoggingConfig"]).toEqual({
    LogGroup: "/company/events",
  });
  expect(JSON.stringify(template.only("AWS::CloudWatch::Dashboard").properties)).toContain("/company/events");
  expect(template.outputs.get("EventsLogGroupName")).toBe("/company/events");
  expect(sync.logGroup.logGroupName).toBe("/company/events");
});

describe("a topic", () => {
  it("of the app gets the alarms and the subscription, and its policy allows the alarms", () => {
    const { template, warnings } = deployed((stack) => ({ alarmTopic: new Topic(stack, "OnCall") }));
    const { name } = template.only("AWS::SNS::Topic");

    const actions = template
      .all("AWS::CloudWatch::Alarm")
      .flatMap(({ properties }) => properties["AlarmActions"] ?? []);
    expect(name).toMatch(/^OnCall/);
    expect(new Set(actions)).toEqual(new Set([`<${name}>`]));
    expect(template.only("AWS::SNS::Subscription").properties["TopicArn"]).toBe(`<${name}>`);
    expect(JSON.stringify(template.only("AWS::SNS::TopicPolicy").properties)).toContain(
      '"Sid":"AlarmsMayPublish"',
    );
    expect([...template.types]).not.toContain("AWS::KMS::Key");
    expect(warnings).toEqual([]);
  });

  it("that is imported gets them too, and a warning says what its policy must allow", () => {
    const arn = "arn:aws:sns:eu-west-1:123456789012:on-call";
    const { template, warnings } = deployed((stack) => ({
      alarmTopic: Topic.fromTopicArn(stack, "OnCall", arn),
    }));

    expect([...template.types]).not.toContain("AWS::SNS::Topic");
    expect(template.only("AWS::SNS::Subscription").properties["TopicArn"]).toBe(arn);
    expect(warnings).toEqual([
      expect.stringContaining("It must allow cloudwatch.amazonaws.com and events.amazonaws.com sns:Publish"),
    ]);
  });
});

it("a topic and a key of two deployments have each statement once, because two of one Sid are refused", () => {
  const stack = new Stack(newApp(), "Platform", { env: ENV });
  const encryptionKey = new Key(stack, "Key");
  const alarmTopic = new Topic(stack, "OnCall");
  for (const id of ["Brands", "Lab", "Archive"]) {
    new EventSync(stack, id, {
      settings: SETTINGS,
      encryptionKey,
      ...(id === "Archive" ? {} : { alarmTopic }),
    });
  }

  const policies = templateOf(stack);
  const sids = (type: string): readonly (string | undefined)[] =>
    policies.all(type).map(({ properties }) =>
      JSON.stringify(properties)
        .match(/"Sid":"Alarms\w+"/g)
        ?.join(),
    );
  expect(sids("AWS::SNS::TopicPolicy")).toEqual(['"Sid":"AlarmsMayPublish"', '"Sid":"AlarmsMayPublish"']);
  expect(sids("AWS::KMS::Key")).toEqual(['"Sid":"AlarmsMayEncrypt"']);
});

it("a schedule group has the schedules, and its role trusts that group only", () => {
  const { template } = deployed((stack) => ({
    scheduleGroup: ScheduleGroup.fromScheduleGroupName(stack, "Group", "company-schedules"),
  }));

  expect([...template.types]).not.toContain("AWS::Scheduler::ScheduleGroup");
  expect(template.only("AWS::Scheduler::Schedule").properties["GroupName"]).toBe("company-schedules");
  expect(JSON.stringify(template.all("AWS::IAM::Role"))).toContain(
    '"aws:SourceArn":"arn:<AWS::Partition>:scheduler:eu-west-1:123456789012:schedule-group/company-schedules"',
  );
});

describe("a VPC", () => {
  const ofNetwork = (template: Synthesized) =>
    ofFunction(template).filter(({ Action }) => Action.some((action) => action.startsWith("ec2:")));

  it("has the function in its private subnets, behind a new security group that nothing comes in through", () => {
    const { template } = deployed((stack) => ({ vpc: new Vpc(stack, "Vpc", { maxAzs: 2 }) }));

    const { name, properties } = template.only("AWS::EC2::SecurityGroup");
    const subnets = template.all("AWS::EC2::Subnet").map((subnet) => subnet.name);
    expect(template.only("AWS::Lambda::Function").properties["VpcConfig"]).toEqual({
      SubnetIds: subnets.filter((subnet) => subnet.includes("Private")).map((subnet) => `<${subnet}>`),
      SecurityGroupIds: [`<${name}.GroupId>`],
    });
    expect(properties).not.toHaveProperty("SecurityGroupIngress");
  });

  it("has it in the subnets and security groups that the app names", () => {
    const { template } = deployed((stack) => {
      const vpc = new Vpc(stack, "Vpc", {
        maxAzs: 1,
        subnetConfiguration: [
          { name: "Out", subnetType: SubnetType.PUBLIC },
          { name: "In", subnetType: SubnetType.PRIVATE_ISOLATED },
        ],
      });
      const securityGroups = ["sg-1", "sg-2"].map((id) => SecurityGroup.fromSecurityGroupId(stack, id, id));
      return { vpc, vpcSubnets: { subnetGroupName: "In" }, securityGroups };
    });

    expect(template.only("AWS::Lambda::Function").properties["VpcConfig"]).toEqual({
      SubnetIds: [expect.stringMatching(/^<VpcInSubnet1/)],
      SecurityGroupIds: ["sg-1", "sg-2"],
    });
    expect([...template.types]).not.toContain("AWS::EC2::SecurityGroup");
  });

  it("without private subnets that have a way out is refused, and isolated ones are taken where they are named", () => {
    const isolated = (stack: Stack) =>
      new Vpc(stack, "Vpc", {
        maxAzs: 1,
        natGateways: 0,
        subnetConfiguration: [{ name: "In", subnetType: SubnetType.PRIVATE_ISOLATED }],
      });
    const vpcSubnets = { subnetType: SubnetType.PRIVATE_ISOLATED };

    expect(() => deployed((stack) => ({ vpc: isolated(stack) }))).toThrow(
      "EventSync: expected a vpc with private subnets that have a way out (PRIVATE_WITH_EGRESS), and got Platform/Vpc, which has none",
    );
    expect(() => deployed((stack) => ({ vpc: isolated(stack), vpcSubnets }))).not.toThrow();
  });

  it("lets Lambda make network interfaces with the role, and not the code of the function", () => {
    const { template } = deployed((stack) => ({ vpc: new Vpc(stack, "Vpc", { maxAzs: 1 }) }));

    expect(ofNetwork(template)).toEqual([
      {
        Effect: "Allow",
        Action: [
          "ec2:CreateNetworkInterface",
          "ec2:DescribeNetworkInterfaces",
          "ec2:DescribeSubnets",
          "ec2:DeleteNetworkInterface",
          "ec2:AssignPrivateIpAddresses",
          "ec2:UnassignPrivateIpAddresses",
        ],
        Resource: ["*"],
        Condition: { Null: { "lambda:SourceFunctionArn": "true" } },
      },
    ]);
    expect(ofNetwork(deployed(() => ({})).template)).toEqual([]);
  });

  it("is needed for subnets and security groups", () => {
    const group = (stack: Stack) => SecurityGroup.fromSecurityGroupId(stack, "Group", "sg-1");

    expect(() => deployed(() => ({ vpcSubnets: { subnetGroupName: "In" } }))).toThrow(
      "without configuring a VPC",
    );
    expect(() => deployed((stack) => ({ securityGroups: [group(stack)] }))).toThrow(
      "without configuring a VPC",
    );
  });
});

describe("no props at all", () => {
  it.each([
    [undefined, "nothing"],
    [null, "null"],
    ["brand-events.json", '"brand-events.json"'],
  ])("are refused in a sentence, in plain JavaScript: %s", (props, got) => {
    const make = () => Reflect.construct(EventSync, [new Stack(newApp(), "Platform"), "Events", props]);

    expect(make).toThrow(
      `EventSync Platform/Events: these settings are not usable.\n  props: expected an object, and got ${got}`,
    );
  });

  it("are as good as none that are empty, and the settings are asked for", () => {
    const make = () => Reflect.construct(EventSync, [new Stack(newApp(), "Platform"), "Events", {}]);

    expect(make).toThrow("settings: expected an object, and got nothing");
  });
});

describe("a prop that there is not", () => {
  it.each(["permissionBoundary", "encryptionkey", "VPC"])(
    "is refused, in plain JavaScript too: %s",
    (name) => {
      expect(() => deployed(() => ({ [name]: undefined }))).toThrow(
        `EventSync Platform/Events: these settings are not usable.\n  props.${name}: there is no such key; is it misspelt?`,
      );
    },
  );
});

describe("what two deployments of an app must not share", () => {
  const two =
    (props: (stack: Stack) => readonly [Partial<EventSyncProps>, Partial<EventSyncProps>]) => () => {
      const stack = new Stack(newApp(), "Platform", { env: ENV });
      const [one, other] = props(stack);
      new EventSync(stack, "Events", { settings: SETTINGS, ...one });
      new EventSync(stack, "Others", { settings: SETTINGS, ...other });
    };

  it.each<[string, Parameters<typeof two>[0], string]>([
    [
      "a bucket of the app",
      (stack) => {
        const bucket = new Bucket(stack, "Lake", { versioned: true });
        return [{ bucket }, { bucket }];
      },
      "props.bucket: Platform/Events and Platform/Others both have the bucket Platform/Lake, and",
    ],
    [
      "a bucket that is imported twice",
      (stack) => [
        { bucket: Bucket.fromBucketName(stack, "One", "company-lake") },
        { bucket: Bucket.fromBucketName(stack, "Two", "company-lake") },
      ],
      "both have the bucket Platform/Two",
    ],
    [
      "a bucket that is left, and imported",
      (stack) => [
        { settings: { ...SETTINGS, existingBucket: "company-lake" } },
        { bucket: Bucket.fromBucketName(stack, "Two", "company-lake") },
      ],
      "both have the bucket Platform/Two",
    ],
    [
      "a log",
      (stack) => {
        const logGroup = new LogGroup(stack, "Log");
        return [{ logGroup }, { logGroup }];
      },
      "props.logGroup: Platform/Events and Platform/Others both have the log Platform/Log, and",
    ],
  ])("is refused: %s", (_, props, message) => {
    expect(two(props)).toThrow(message);
  });

  it("is nothing else: each may have a bucket of its own", () => {
    const bucket = (stack: Stack, id: string) => new Bucket(stack, id, { versioned: true });

    expect(
      two((stack) => [{ bucket: bucket(stack, "One") }, { bucket: bucket(stack, "Two") }]),
    ).not.toThrow();
  });
});
