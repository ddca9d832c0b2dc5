// The examples, put through the whole app: both packs of cdk-nag's rules find nothing that is not acknowledged.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { eventSyncApp } from "../../lib/app.ts";
import { CONTEXT, json, WITHOUT_BUNDLE } from "./synthesized.ts";

const THREE = z.object({ eventSync: z.unknown() }).parse(json("../../examples/three-accounts.json"));

const reportSchema = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      conclusion: z.string(),
      violations: z.array(z.object({ ruleName: z.string() })),
    }),
  ),
});

function appOf(context: object): { readonly outdir: string } & ReturnType<typeof eventSyncApp> {
  const outdir = mkdtempSync(join(tmpdir(), "brand-events-cdk-"));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  return { outdir, ...eventSyncApp({ outdir, context: { ...context, ...WITHOUT_BUNDLE } }) };
}

function rulesBroken(outdir: string): readonly string[] {
  const report: unknown = JSON.parse(readFileSync(join(outdir, "validation-report.json"), "utf8"));
  return reportSchema
    .parse(report)
    .pluginReports.flatMap(({ violations }) => violations.map((each) => each.ruleName));
}

describe("the app", () => {
  it.each([
    ["of cdk.json, one account", CONTEXT],
    ["of the example of three accounts", { ...CONTEXT, ...THREE }],
  ])("%s breaks no rule", (_, context) => {
    const { app, outdir } = appOf(context);

    app.synth();

    expect(rulesBroken(outdir)).toEqual([]);
  });

  it("is not synthesized where it breaks one", () => {
    const { app, stack, outdir } = appOf(CONTEXT);
    new Bucket(stack, "Open");

    expect(() => app.synth()).toThrow("AwsSolutions-S10");
    expect(rulesBroken(outdir)).toEqual(["AwsSolutions-S1", "AwsSolutions-S10"]);
  });

  it("is not made of settings that are wrong", () => {
    expect(() => appOf({})).toThrow("eventSync: expected an object, and got nothing");
  });
});
