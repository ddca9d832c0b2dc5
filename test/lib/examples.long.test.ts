// The examples, synthesized by the app: no rule of cdk-nag is violated without an acknowledgement.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack, Validations } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { eventSyncApp } from "../../lib/app.ts";
import { EventSync } from "../../lib/event-sync.ts";
import { CONTEXT, json, WITHOUT_BUNDLE } from "./synthesized.ts";

const THREE = z.object({ eventSync: z.unknown() }).parse(json("../../examples/three-accounts.json"));

const WITH_OAUTH = {
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  accounts: { uk: { schedule: "rate(1 day)" } },
};

const reportSchema = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      conclusion: z.string(),
      violations: z.array(z.object({ ruleName: z.string() })),
    }),
  ),
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "brand-events-cdk-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function appOf(context: object): { readonly outdir: string } & ReturnType<typeof eventSyncApp> {
  const outdir = newFolder();
  return { outdir, ...eventSyncApp({ outdir, context: { ...context, ...WITHOUT_BUNDLE } }) };
}

function violatedRules(outdir: string): readonly string[] {
  const report: unknown = JSON.parse(readFileSync(join(outdir, "validation-report.json"), "utf8"));
  return reportSchema
    .parse(report)
    .pluginReports.flatMap(({ violations }) => violations.map((each) => each.ruleName));
}

describe("the app", () => {
  it.each([
    ["with cdk.json, one account,", CONTEXT],
    ["with the example of three accounts", { ...CONTEXT, ...THREE }],
    ["with an identity provider", { ...CONTEXT, eventSync: WITH_OAUTH }],
  ])("%s violates no rule", (_, context) => {
    const { app, outdir } = appOf(context);

    app.synth();

    expect(violatedRules(outdir)).toEqual([]);
  });

  it("of a customer with EventSync and what it brings violates no rule", () => {
    const outdir = newFolder();
    const app = new App({ outdir, context: { ...CONTEXT, ...WITHOUT_BUNDLE } });
    const stack = new Stack(app, "Platform", { env: { account: "123456789012", region: "eu-west-1" } });
    new EventSync(stack, "Events", {
      settings: WITH_OAUTH,
      bucket: Bucket.fromBucketName(stack, "Lake", "company-lake"),
      encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }),
      permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "company-boundary"),
      vpc: Vpc.fromVpcAttributes(stack, "Vpc", {
        vpcId: "vpc-0123456789abcdef0",
        availabilityZones: ["eu-west-1a"],
        privateSubnetIds: ["subnet-0123456789abcdef0"],
      }),
    });
    new EventSync(stack, "Archive", { settings: { ...WITH_OAUTH, existingBucket: "left-bucket" } });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));

    app.synth();

    expect(violatedRules(outdir)).toEqual([]);
  });

  it("is not synthesized if it violates a rule", () => {
    const { app, stack, outdir } = appOf(CONTEXT);
    new Bucket(stack, "Open");

    expect(() => app.synth()).toThrow("AwsSolutions-S10");
    expect(violatedRules(outdir)).toEqual(["AwsSolutions-S1", "AwsSolutions-S10"]);
  });

  it("is not made from wrong settings", () => {
    expect(() => appOf({})).toThrow("eventSync: expected an object, and got nothing");
  });
});
