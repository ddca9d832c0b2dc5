// What a person sees first: the dashboard, and the outputs that say what to do next.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { METRICS } from "../../lambdas/sync/telemetry/metrics.ts";
import { synthesized } from "./synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, us: account },
});

describe("the dashboard", () => {
  const body = z
    .object({ widgets: z.array(z.object({ properties: z.record(z.string(), z.unknown()) })) })
    .parse(JSON.parse(String(template.only("AWS::CloudWatch::Dashboard").properties["DashboardBody"])));
  const widgets = body.widgets.map(({ properties }) => properties);
  const titled = (title: string): Readonly<Record<string, unknown>> | undefined =>
    widgets.find((widget) => widget["title"] === title);

  it("begins with all the alarms and each account's last success", () => {
    expect(widgets[0]?.["alarms"]).toHaveLength(template.all("AWS::CloudWatch::Alarm").length);
    expect(titled("Last success of each account")?.["query"]).toBe(
      `SOURCE '<${template.only("AWS::Logs::LogGroup").name}>' | fields @timestamp as published_at, account, Events, Added, Changed, Removed
| filter Published = 1
| sort @timestamp desc
| dedup account`,
    );
  });

  it.each(["uk", "us"])(
    "shows of the account %s what its runs came to, in numbers that are written",
    (name) => {
      const shown = widgets
        .filter(({ title }) => String(title).startsWith(`${name}: `))
        .flatMap(({ metrics }) => z.array(z.array(z.unknown())).parse(metrics))
        .map(([namespace, metric, dimension, value]) => [namespace, metric, dimension, value]);

      expect(shown.map(([, metric]) => metric)).toEqual([
        ...["Published", "Held", "Failed", "Skipped", "Superseded", "EventNotSent"],
        "Events",
        ...["Added", "Changed", "Removed", "LeftOut"],
        "DurationSeconds",
        "BudgetShare",
        ...["Retries", "Throttled"],
      ]);
      for (const [namespace, metric, dimension, value] of shown) {
        expect([namespace, dimension, value]).toEqual(["BrandEventsSync", "account", name]);
        expect(Object.keys(METRICS)).toContain(metric);
      }
    },
  );
});

describe("the outputs", () => {
  const { outputs } = template;
  const invocation = (payload: string): string =>
    `aws lambda invoke --region <AWS::Region> --function-name <${template.only("AWS::Lambda::Function").name}>:live --cli-read-timeout 900 --cli-binary-format raw-in-base64-out --payload '${payload}' /dev/stdout`;

  it("say what to do next, in order: fill the secrets, check, run, query", () => {
    const steps = [...outputs].filter(([name]) => name.startsWith("Step"));

    expect(steps.map(([name]) => name)).toEqual([
      "Step1FillSecretuk",
      "Step1FillSecretus",
      "Step2Check",
      "Step3Run",
      "Step4Query",
    ]);
    expect(outputs.get("Step2Check")).toBe(invocation('{"action":"check","account":"uk"}'));
    expect(outputs.get("Step3Run")).toBe(invocation('{"action":"run","account":"uk"}'));
    expect(outputs.get("Step4Query")).toBe("Stack");
  });

  it("name what the command line and the runbook need", () => {
    expect(outputs.get("WarehouseLocation")).toBe(`s3://<${template.only("AWS::S3::Bucket").name}>`);
    expect(outputs.get("FunctionName")).toBe(`<${template.only("AWS::Lambda::Function").name}>`);
    expect(outputs.get("LogGroupName")).toBe(`<${template.only("AWS::Logs::LogGroup").name}>`);
    expect(outputs.get("FailureQueueUrl")).toBe(`<${template.only("AWS::SQS::Queue").name}>`);
  });
});
