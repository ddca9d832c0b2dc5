// Links into the AWS console: the workgroup in Athena, the invocation's log, the execution that continues the run.

import type { Context } from "aws-lambda";

export interface ConsoleLinks {
  readonly athena: string;
  readonly log: string;
  readonly execution?: string;
}

export interface ConsoleLinksOptions {
  readonly region: string;
  readonly workgroup: string;
  readonly context: Pick<Context, "logGroupName" | "logStreamName">;
  /** The ARN of the execution that a run was handed over to. */
  readonly execution?: string | undefined;
}

export function consoleLinks({ region, workgroup, context, execution }: ConsoleLinksOptions): ConsoleLinks {
  const { logGroupName, logStreamName } = context;
  const group = fragment(logGroupName);
  const stream = fragment(logStreamName);
  return {
    athena: `${consoleOf(region)}/athena/home?region=${region}#/workgroups/details/${encodeURIComponent(workgroup)}`,
    log: `${consoleOf(region)}/cloudwatch/home?region=${region}#logsV2:log-groups/log-group/${group}/log-events/${stream}`,
    ...(execution === undefined
      ? {}
      : {
          execution: `${consoleOf(region)}/states/home?region=${region}#/v2/executions/details/${execution}`,
        }),
  };
}

function consoleOf(region: string): string {
  if (region.startsWith("cn-")) return `https://${region}.console.amazonaws.cn`;
  if (region.startsWith("us-gov-")) return `https://${region}.console.amazonaws-us-gov.com`;
  return `https://${region}.console.aws.amazon.com`;
}

/** A name behind the "#" of the CloudWatch console: percent-encoded twice, with "$" for each "%" of the second time. */
function fragment(name: string): string {
  return encodeURIComponent(encodeURIComponent(name)).replaceAll("%", "$");
}
