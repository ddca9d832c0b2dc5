// The dashboard: its widgets, and that the function writes every metric they show.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { METRICS } from "../../../lambdas/sync/telemetry/metrics.ts";
import { synthesized } from "../synthesized.ts";

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

  it("starts with all alarms and the last success of each account", () => {
    expect(widgets[0]?.["alarms"]).toHaveLength(template.all("AWS::CloudWatch::Alarm").length);
    expect(titled("Last success of each account")?.["query"]).toBe(
      `SOURCE '<${template.only("AWS::Logs::LogGroup").name}>' | fields @timestamp as published_at, account, Events, Added, Changed, Removed
| filter Published = 1
| sort @timestamp desc
| dedup account`,
    );
  });

  it("shows how many runs that were handed over are under way, and how executions ended", () => {
    const stateMachine = "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Stack";
    const metric = (name: string): unknown[] => ["AWS/States", name, "StateMachineArn", stateMachine];
    const counted = [
      "ExecutionsStarted",
      "ExecutionsRedriven",
      "ExecutionsSucceeded",
      "ExecutionsFailed",
      "ExecutionsTimedOut",
      "ExecutionsAborted",
    ];
    const metricsOf = (title: string): readonly (readonly unknown[])[] =>
      z.array(z.array(z.unknown())).parse(titled(title)?.["metrics"]);
    const named = (title: string): readonly unknown[] =>
      metricsOf(title)
        .map((each) => each.slice(0, 4))
        .filter(([namespace]) => namespace === "AWS/States");

    const [expression] = metricsOf("executions: running").map(([first]) => first);

    expect(expression).toMatchObject({
      expression:
        "RUNNING_SUM(FILL(started, 0)) + RUNNING_SUM(FILL(redriven, 0)) - RUNNING_SUM(FILL(succeeded, 0)) - RUNNING_SUM(FILL(failed, 0)) - RUNNING_SUM(FILL(timedOut, 0)) - RUNNING_SUM(FILL(aborted, 0))",
    });
    expect(named("executions: running")).toEqual(counted.map(metric));
    expect(named("executions: how they ended")).toEqual(counted.map(metric));
  });

  it.each(["uk", "us"])("shows for the account %s the metrics that the function writes", (name) => {
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
  });
});
