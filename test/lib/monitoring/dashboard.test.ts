// The dashboard: its widgets, and that the function writes every metric they show.

import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { METRICS } from "../../../lambdas/sync/telemetry.ts";
import { ACCOUNTS_NOW, LAST_SUCCESS, LOG_QUERIES, queryText } from "../../../lib/monitoring/dashboard.ts";
import { synthesized } from "../synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, us: { ...account, staleAfterHours: 80 } },
});

describe("the dashboard", () => {
  const body = z
    .object({ widgets: z.array(z.object({ properties: z.record(z.string(), z.unknown()) })) })
    .parse(JSON.parse(String(template.only("AWS::CloudWatch::Dashboard").properties["DashboardBody"])));
  const widgets = body.widgets.map(({ properties }) => properties);
  const titled = (title: string): Readonly<Record<string, unknown>> | undefined =>
    widgets.find((widget) => widget["title"] === title);

  const alarmsIn = (title: string): readonly string[] =>
    z
      .array(z.string())
      .parse(titled(title)?.["alarms"])
      .map((arn) => /^<(.+)\.Arn>$/.exec(arn)?.[1] ?? arn);
  const namesOf = (logicalIds: readonly string[]): readonly unknown[] =>
    template
      .all("AWS::CloudWatch::Alarm")
      .filter(({ name }) => logicalIds.includes(name))
      .map(({ properties }) => properties["AlarmName"]);

  it("starts with what each account did last and its last success", () => {
    const source = `SOURCE '<${template.only("AWS::Logs::LogGroup").name}>' | `;

    expect(widgets[0]?.["markdown"]).toBe("# At a glance");
    expect(widgets[1]).toMatchObject({
      title: "What each account did last",
      query: source + queryText(ACCOUNTS_NOW).replaceAll("\n| ", "\n| "),
    });
    expect(widgets[2]).toMatchObject({
      title: "Last success of each account",
      query: source + queryText(LAST_SUCCESS),
    });
  });

  it("shows of each account its own alarms, and those of all accounts together: each alarm once", () => {
    expect(namesOf(alarmsIn("uk"))).toEqual(
      ["failed", "held", "throttled", "left-out", "login-refused", "catalog-behind", "stale"].map(
        (section) => `Stack-uk-${section}`,
      ),
    );
    expect(namesOf(alarmsIn("all accounts"))).toEqual([
      "Stack-failure-queue",
      "Stack-execution",
      "Stack-not-told",
    ]);
    const shown = ["uk", "us", "all accounts"].flatMap(alarmsIn);
    expect(shown).toHaveLength(template.all("AWS::CloudWatch::Alarm").length);
    expect(new Set(shown).size).toBe(shown.length);
  });

  it.each([
    { name: "uk", limit: 26 },
    { name: "us", limit: 80 },
  ])("shows how old the data of $name are, against the limit of $limit hours", ({ name, limit }) => {
    const gauge = titled(`${name}: hours since the last publication`);

    expect(gauge).toMatchObject({
      view: "gauge",
      yAxis: { left: { min: 0, max: limit * 1.5 } },
      annotations: { horizontal: [{ value: limit, label: "stale", fill: "above" }] },
    });
    expect(gauge?.["metrics"]).toEqual([
      [
        expect.objectContaining({
          expression:
            "(EPOCH(FILL(published, 0)) - FILL(IF(published > 0, EPOCH(published)), REPEAT)) / 3600",
          period: 3600,
        }),
      ],
      [
        "BrandEventsSync",
        "Published",
        "account",
        name,
        expect.objectContaining({ id: "published", stat: "Sum", period: 3600, visible: false }),
      ],
    ]);
  });

  it("shows no limit for an account whose schedule is off", () => {
    const off = synthesized({
      baseUrl: "https://api.example.com",
      accounts: { uk: { schedule: "rate(1 day)", enabled: false } },
    });

    expect(String(off.only("AWS::CloudWatch::Dashboard").properties["DashboardBody"])).not.toContain("stale");
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
      .filter(([first]) => typeof first === "string")
      .map(([namespace, metric, dimension, value]) => [namespace, metric, dimension, value]);

    expect(shown.map(([, metric]) => metric)).toEqual([
      "Published",
      ...["Published", "Held", "Failed", "Skipped", "Superseded", "EventNotSent"],
      "Events",
      ...["Added", "Changed", "Removed", "LeftOut"],
      "DurationSeconds",
      "BudgetShare",
      "Throttled",
    ]);
    for (const [namespace, metric, dimension, value] of shown) {
      expect([namespace, dimension, value]).toEqual(["BrandEventsSync", "account", name]);
      expect(Object.keys(METRICS)).toContain(metric);
    }
  });
});

test("each metric that the function sends is shown by an alarm or the dashboard: nothing is paid for otherwise", () => {
  const shown = ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"]
    .flatMap((type) => template.all(type))
    .map(({ properties }) => JSON.stringify(properties))
    .join();

  expect(Object.keys(METRICS).filter((name) => !new RegExp(`"${name}\\\\?"`).test(shown))).toEqual([]);
});

describe("the saved queries", () => {
  it("are in a folder with the name of the deployment, and read the function's log", () => {
    const logs = template.only("AWS::Logs::LogGroup").name;

    expect(template.all("AWS::Logs::QueryDefinition").map(({ properties }) => properties)).toEqual(
      LOG_QUERIES.map((query) => ({
        Name: `Stack/${query.title}`,
        QueryString: queryText(query),
        LogGroupNames: [`<${logs}>`],
      })),
    );
  });
});
