// A stack of a data platform, with the events of two services beside what the platform has already.

import { App, Stack, type StackProps } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { EventSync } from "brand-events-sync";
import type { Construct } from "constructs";

class DataPlatform extends Stack {
  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props);
    const encryptionKey = new Key(this, "Key", { enableKeyRotation: true });
    const permissionsBoundary = ManagedPolicy.fromManagedPolicyName(this, "Boundary", "platform-boundary");

    const brands = new EventSync(this, "Brands", {
      settings: {
        baseUrl: "https://brand.example.net",
        nextPage: "all",
        alarmEmail: "data-team@example.net",
        accounts: {
          uk: { schedule: "cron(0 6 * * ? *)", timeZone: "Europe/London" },
          us: { schedule: "cron(0 6 * * ? *)", timeZone: "America/New_York", maxDropPercent: 10 },
        },
      },
      encryptionKey,
      permissionsBoundary,
    });

    // Another service, whose alarms go to the same people.
    new EventSync(this, "Lab", {
      settings: {
        baseUrl: "https://lab.example.net",
        nextPage: "all",
        accounts: { uk: { schedule: "rate(1 day)" } },
      },
      encryptionKey,
      permissionsBoundary,
      alarmTopic: brands.alarmTopic,
    });

    const newEvents = new Queue(this, "NewEvents", { enforceSSL: true });
    new Rule(this, "Published", {
      eventPattern: {
        source: ["brand-events-sync"],
        detailType: ["Snapshot Published"],
        detail: { workgroup: [brands.workgroup] },
      },
      targets: [new SqsQueue(newEvents)],
    });
  }
}

const app = new App();
new DataPlatform(app, "DataPlatform", { env: { account: "123456789012", region: "eu-west-1" } });
