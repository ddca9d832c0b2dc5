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

/** Contract: the sections of the runbook that mails lead to; rules match on them. */
export const MAIL_SECTIONS = {
  "Snapshot Held": ["held"],
  "Run Failed": ["failed", "login-refused", "execution"],
} as const;

/**
 * A command that a mail names. It has no double quotes: they would have a backslash before them in the mail.
 * @param payload in base64
 */
export function mailedCommand(
  { region, functionName }: { readonly region: string; readonly functionName: string },
  payload: string,
  options = "--cli-read-timeout 900",
): string {
  return `aws lambda invoke --region ${region} --function-name ${functionName}:live ${options} --cli-binary-format base64 --payload ${payload} /dev/stdout`;
}

/** Contract: in the detail of an event that a person is told of. The templates name these. */
export interface Mail {
  readonly section: string;
  readonly what: string;
  readonly why: string;
  /** What publishing the held snapshot would do. */
  readonly effect?: string;
  /** What happens to the held snapshot if no person accepts it. */
  readonly wait?: string;
  /** What the function is invoked with, in base64: a template cannot show double quotes. */
  readonly accept?: string;
  readonly diff?: string;
  readonly check?: string;
  readonly run?: string;
}
