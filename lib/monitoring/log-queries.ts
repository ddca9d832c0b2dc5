// Queries of CloudWatch Logs Insights on the function's log: saved with the stack, and two of them on the dashboard.

import { CfnQueryDefinition, type ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

export interface LogQuery {
  readonly title: string;
  /** A command each. */
  readonly commands: readonly string[];
}

/** Its last line says what an account does: a line that is no end belongs to a run that is under way. */
export const ACCOUNTS_NOW: LogQuery = {
  title: "What each account did last",
  commands: [
    "filter ispresent(account) and ispresent(message)",
    "stats latest(@timestamp) as at, latest(message) as last_line, latest(run_id) as run by account",
    "sort account asc",
  ],
};

/** The metrics of each attempt are a line of the log, so the log shows the latest publication. */
export const LAST_SUCCESS: LogQuery = {
  title: "Last success of each account",
  commands: [
    "fields @timestamp as published_at, account, Events, Added, Changed, Removed",
    "filter Published = 1",
    "sort @timestamp desc",
    "dedup account",
  ],
};

export const LOG_QUERIES: readonly LogQuery[] = [
  ACCOUNTS_NOW,
  LAST_SUCCESS,
  {
    title: "How runs ended",
    commands: [
      "fields @timestamp, account, run_id, attempt, outcome, reason, seconds",
      "filter message like /^ended as /",
      "sort @timestamp desc",
      "limit 100",
    ],
  },
  {
    title: "Errors and warnings",
    commands: [
      "fields @timestamp, level, account, run_id, error_code, message",
      'filter level in ["ERROR", "WARN"]',
      "sort @timestamp desc",
      "limit 100",
    ],
  },
  {
    title: "One run from its first line to its last",
    commands: [
      "fields @timestamp, level, message",
      'filter run_id = "2026-11-21T06-00-00.000Z"', // to be replaced by the reader
      "sort @timestamp asc",
    ],
  },
  {
    title: "Requests, retries and throttling of each account",
    commands: [
      "filter ispresent(Requests)",
      "stats count(*) as attempts, sum(Requests) as requests, sum(Retries) as retries, sum(Throttled) as throttled, max(BudgetShare) as budget_percent by account",
      "sort account asc",
    ],
  },
  {
    title: "Fields that changed",
    commands: [
      "fields @timestamp, account, run_id, message",
      "filter message like /^(new fields|fields that are gone|fields that changed their type): /",
      "sort @timestamp desc",
      "limit 100",
    ],
  },
  {
    title: "Time and memory of invocations",
    commands: [
      'filter @type = "REPORT"',
      "stats count(*) as invocations, max(@duration / 1000) as longest_seconds, max(@maxMemoryUsed / 1000000) as most_megabytes, max(@memorySize / 1000000) as megabytes by bin(1d) as day",
      "sort day desc",
    ],
  },
];

/** As the console shows it: a command on each line. */
export function queryText({ commands }: LogQuery): string {
  return commands.join("\n| ");
}

/** The saved queries of CloudWatch Logs Insights, in a folder with the name of the deployment. */
export class SavedLogQueries extends Construct {
  /** @param name of the deployment */
  constructor(scope: Construct, id: string, name: string, logGroup: ILogGroup) {
    super(scope, id);
    for (const query of LOG_QUERIES) {
      new CfnQueryDefinition(this, query.title.replaceAll(/[^A-Za-z]/g, ""), {
        name: `${name}/${query.title}`,
        queryString: queryText(query),
        logGroupNames: [logGroup.logGroupName],
      });
    }
  }
}
