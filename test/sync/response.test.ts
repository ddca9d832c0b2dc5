import { expect, test } from "vitest";
import { responseOf } from "../../lambdas/sync/response.ts";
import { HELD, PREVIEW, PUBLISHED, SKIPPED } from "./rows.ts";

const RUN = "2026-11-21T06-00-00.000Z";
const environment = {
  region: "eu-west-1",
  functionName: "sync",
  workgroup: "events",
  database: "brand_events",
};
const context = { logGroupName: "/aws/lambda/sync", logStreamName: "2026/11/21/[1]0af" };
const facts = { account: "uk", environment, context, publication: undefined };
/** Its group and stream are in the console's encoding. */
const LOG =
  "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/$252Faws$252Flambda$252Fsync/log-events/2026$252F11$252F21$252F$255B1$255D0af";
const ATHENA =
  "https://eu-west-1.console.aws.amazon.com/athena/home?region=eu-west-1#/workgroups/details/events";

test("a publication has a summary, queries to try and links", () => {
  expect(responseOf({ row: PUBLISHED }, { ...facts, publication: "0000000007" })).toEqual({
    outcome: "PUBLISHED",
    summary: "1,000 events; 3 added, 2 changed, 1 removed; 7 left out",
    account: "uk",
    run_id: RUN,
    snapshot_id: RUN,
    publication: "0000000007",
    counts: {
      listed: 1_007,
      events: 1_000,
      added: 3,
      changed: 2,
      removed: 1,
      gone: 4,
      forbidden: 2,
      rejected: 1,
      repeated: 0,
    },
    requests: 900,
    seconds: 299.5,
    sql: [
      `SELECT * FROM "brand_events"."events" WHERE account = 'uk' LIMIT 10`,
      `SELECT * FROM "brand_events"."event_changes" WHERE account = 'uk' AND publication = '0000000007'`,
    ],
    links: { athena: ATHENA, log: LOG },
  });
});

test("a held snapshot has its reason, what publishing it would do, and how to decide", () => {
  expect(responseOf({ row: HELD, explanation: "too few", preview: PREVIEW }, facts)).toMatchObject({
    outcome: "HELD",
    reason: "DROPPED",
    explanation: "too few",
    preview: PREVIEW,
    diff_event: { action: "diff", account: "uk", snapshotId: RUN },
    accept_event: { action: "accept", account: "uk", snapshotId: RUN },
    accept_command: `aws lambda invoke --region eu-west-1 --function-name sync:live --cli-read-timeout 900 --cli-binary-format raw-in-base64-out --payload '{"action":"accept","account":"uk","snapshotId":"${RUN}"}' /dev/stdout`,
    wait: "Readers keep what they see. The next run makes a new snapshot, and publishes it unless that one has to be held too. This one is retired after 30 days.",
  });
  expect(responseOf({ row: HELD }, facts)).not.toHaveProperty("preview");
});

test("a publication says how many entries of the list were repeated", () => {
  expect(responseOf({ row: { ...PUBLISHED, repeated: 7_956 } }, facts)).toMatchObject({
    summary: "1,000 events; 3 added, 2 changed, 1 removed; 7,956 repeated in the list; 7 left out",
    counts: { repeated: 7_956 },
  });
});

test("a start of a finished run says that it did nothing", () => {
  const skipped = responseOf({ row: SKIPPED }, facts);
  const repeated = responseOf({ row: PUBLISHED, isRepeat: true }, facts);

  expect(skipped).toMatchObject({ outcome: "SKIPPED", summary: "no snapshot was made" });
  expect(repeated).toMatchObject({ note: "This run was finished before; this start did nothing." });
});

test("a run that was handed over has a link to its execution", () => {
  const execution = "arn:aws:states:eu-west-1:123456789012:execution:Stack:uk-20261121T060000000Z-1";
  const handedOver = { execution, waitMs: 0 };

  expect(responseOf({ row: { ...SKIPPED, outcome: "HANDED_OVER" }, handedOver }, facts)).toMatchObject({
    links: {
      execution: `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${execution}`,
    },
  });
});

test.each([
  { region: "cn-north-1", host: "https://cn-north-1.console.amazonaws.cn/" },
  { region: "us-gov-west-1", host: "https://us-gov-west-1.console.amazonaws-us-gov.com/" },
])("the console of $region is at $host", ({ region, host }) => {
  const response = responseOf({ row: PUBLISHED }, { ...facts, environment: { ...environment, region } });

  const starts = expect.stringMatching(new RegExp(`^${host}`));
  expect(response).toMatchObject({ links: { log: starts, athena: starts } });
});
