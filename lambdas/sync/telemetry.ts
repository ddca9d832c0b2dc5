// The metrics that the function sends: their names and units. Alarms and the dashboard name them.

/** Contract: alarms and dashboard name it. Every metric has exactly this one dimension. */
export const METRIC_DIMENSION = "account";

/**
 * Contract: each metric and its unit, as CloudWatch spells it. One is paid for each hour in which it is sent, so an alarm
 * or the dashboard shows each.
 */
export const METRICS = {
  /** 1 for an attempt with this outcome, and nothing for another. */
  Published: "Count",
  Skipped: "Count",
  Superseded: "Count",
  /** 1 for a held snapshot, 0 for a published one. */
  Held: "Count",
  /** 1 for a run that failed for good, 0 for one that made a snapshot. */
  Failed: "Count",
  /** 1 where the service refused the credentials, 0 where it accepted them. */
  LoginRefused: "Count",
  /** 1 where the catalog could not be brought up to the publication log and no retry follows, 0 where it was. */
  CatalogBehind: "Count",
  /** How many the published snapshot has. */
  Events: "Count",
  Added: "Count",
  Changed: "Count",
  Removed: "Count",
  /** Listed events without a row, in a snapshot that was published or held. */
  LeftOut: "Count",
  Throttled: "Count",
  DurationSeconds: "Seconds",
  /** Requests sent, in percent of those that the budget allowed in that time. */
  BudgetShare: "Percent",
  /** 1 where the event about the outcome did not reach the event bus. */
  EventNotSent: "Count",
} as const;

export type MetricName = keyof typeof METRICS;
export type MetricValues = Readonly<Partial<Record<MetricName, number>>>;

/**
 * Contract: the mails about an event, by its `detail-type`: the sections of the runbook that they lead to, on which rules
 * match, and how many lines the function makes, which rules pass on.
 */
export const MAILS = {
  "Snapshot Held": { sections: ["held"], lines: 6 },
  "Run Failed": { sections: ["failed", "login-refused", "execution"], lines: 4 },
} as const;

/** Contract: `mail` in the detail of an event that a person is told of. Each line has a key: that is how a rule names it. */
export interface Mail {
  readonly section: string;
  readonly [line: `line${number}`]: string;
}

/** @param index from 0 */
export function mailLine(index: number): `line${number}` {
  return `line${index + 1}`;
}
