import { expect, test } from "vitest";
import { consoleLinks } from "../../lambdas/sync/response.ts";

const context = { logGroupName: "/aws/lambda/sync", logStreamName: "2026/11/21/[1]0af" };

test("the link to a log has its group and stream in the console's encoding", () => {
  const { log, athena } = consoleLinks({ region: "eu-west-1", workgroup: "events", context });

  expect(log).toBe(
    "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/$252Faws$252Flambda$252Fsync/log-events/2026$252F11$252F21$252F$255B1$255D0af",
  );
  expect(athena).toBe(
    "https://eu-west-1.console.aws.amazon.com/athena/home?region=eu-west-1#/workgroups/details/events",
  );
});

test("a run that was handed over has a link to its execution", () => {
  const arn = "arn:aws:states:eu-west-1:123456789012:execution:Stack:uk-20261121T060000000Z-1";

  const { execution } = consoleLinks({ region: "eu-west-1", workgroup: "events", context, execution: arn });

  expect(execution).toBe(
    `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${arn}`,
  );
});

test.each([
  { region: "cn-north-1", host: "https://cn-north-1.console.amazonaws.cn/" },
  { region: "us-gov-west-1", host: "https://us-gov-west-1.console.amazonaws-us-gov.com/" },
])("the console of $region is at $host", ({ region, host }) => {
  expect(consoleLinks({ region, workgroup: "events", context }).log.startsWith(host)).toBe(true);
});
