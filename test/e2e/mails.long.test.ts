// The mails: each end of a run, from the event that the function makes to the text that the topic gets.

import { beforeAll, describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { parseRequest } from "../../lambdas/sync/actions.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox, NEXT_DAY, NEXT_RUN, RUN, SCHEDULED_AT } from "../sync/function-sandbox.ts";
import { ACCOUNT_ID } from "./aws-call.ts";
import { EventRule } from "./event-rule.ts";
import { synthTemplate } from "./template.ts";

const RUNBOOK = "https://wiki.example.com/runbook";
/** The name of the stack. */
const WORKGROUP = "BrandEventsSync";

let rules: readonly EventRule[];

beforeAll(async () => {
  const template = await synthTemplate({
    baseUrl: "https://api.example.com",
    alarmEmail: "data-team@example.com",
    runbookUrl: RUNBOOK,
    accounts: { uk: { schedule: "rate(1 day)" } },
  });
  template.made(template.one("AWS::SNS::Topic").id, { ref: "arn:topic" });
  template.made(template.one("AWS::Lambda::Function").id, { ref: "sync" });
  template.made(template.one("AWS::SQS::Queue").id, { ref: "queue", attributes: { Arn: "arn:queue" } });
  template.made(template.one("AWS::S3::Bucket").id, { ref: "bucket" });
  rules = template
    .all("AWS::Events::Rule")
    .filter(({ id }) => id.startsWith("Mails"))
    .map(({ properties }) => new EventRule(template.resolve(properties)));
});

/** The mails that the events so far cause, as the topic gets them. */
function mailsOf({ events }: FunctionSandbox, workgroup = WORKGROUP): readonly string[] {
  return events.flatMap(({ detailType, detail }) => {
    const event = { source: EVENT_SOURCE, "detail-type": detailType, detail: { ...detail, workgroup } };
    return rules.filter((rule) => rule.matches(event)).map((rule) => rule.textFor(event));
  });
}

/** The only mail, without the quotes around its lines; what a command is invoked with is shown as text. */
function mailOf(sandbox: FunctionSandbox): readonly string[] {
  const [mail, ...others] = mailsOf(sandbox);
  expect(others).toEqual([]);
  return (mail ?? "").split("\n").map((line) => {
    expect(line).toMatch(/^"[^"\\]*"$/);
    return line.slice(1, -1).replace(/--payload (\S+)/, (_, base64: string) => {
      const input = Buffer.from(base64, "base64").toString();
      // The function takes it.
      parseRequest(JSON.parse(input), ["uk"], Date.now());
      return `--payload ${input}`;
    });
  });
}

/** Of the place where the function of the sandbox runs. */
const invoke = (options: string, payload: object): string =>
  `aws lambda invoke --region us-east-1 --function-name brand-events-sync:live ${options} --cli-binary-format base64 --payload ${JSON.stringify(payload)} /dev/stdout`;
const WHERE = `Where: the warehouse s3://bucket in the AWS account ${ACCOUNT_ID}`;
const afterwards = [
  `When the cause is removed, check: ${invoke("--cli-read-timeout 900", { action: "check", account: "uk" })}`,
  `Then run: ${invoke("--invocation-type Event", { action: "run", account: "uk" })}`,
];

describe("the mail about a held snapshot", () => {
  test("says what, why, what to do, and where the runbook is; each line is one text", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(10) });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.simulator.setEvents(makeEvents(6));
    sandbox.events.length = 0;
    const snapshotId = NEXT_RUN;

    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    expect(mailOf(sandbox)).toEqual([
      expect.stringMatching(/^Account uk: a snapshot is held \(DROPPED\)\. Readers see data of .* ago\.$/),
      expect.stringMatching(/^Why: 6 events are 40\.0 % fewer than /),
      expect.stringMatching(/^Publishing it would add \d+, change \d+ and remove \d+ events\.$/),
      `Compare: ${invoke("--cli-read-timeout 900", { action: "diff", account: "uk", snapshotId })}`,
      `Publish: ${invoke("--cli-read-timeout 900", { action: "accept", account: "uk", snapshotId })}`,
      "Or wait: The next run makes and judges another one.",
      WHERE,
      `What to do, step by step: ${RUNBOOK}#held`,
    ]);
  });

  test("is sent once, not again with each repetition of the event, nor by another deployment on the same bus", async () => {
    await using sandbox = await FunctionSandbox.start({ events: [] });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    expect(sandbox.events.filter(({ detailType }) => detailType === "Snapshot Held")).toHaveLength(2);
    expect(mailsOf(sandbox)).toHaveLength(1);
    expect(mailsOf(sandbox, "BrandEventsSync_Other")).toEqual([]);
  });
});

describe("the mail about a failed run", () => {
  test("whose login was refused leads to the section on logins, once for all retries", async () => {
    await using sandbox = await FunctionSandbox.start();
    sandbox.credentials = { method: "session", email: "a@example.test", password: "wrong" };

    await sandbox.invoke({ scheduledAt: SCHEDULED_AT }).catch(() => undefined);
    await sandbox.retry({ scheduledAt: SCHEDULED_AT });

    expect(mailOf(sandbox)).toEqual(
      failureMail(expect.stringMatching(/^Why: LOGIN_REFUSED: .*\.$/), "login-refused"),
    );
  });

  test("over damaged files that readers see has the command that restarts", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(3) });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    await sandbox.store.delete([layout("uk").part(RUN, 0)]);
    sandbox.events.length = 0;

    await sandbox.invoke({ scheduledAt: NEXT_DAY }).catch(() => undefined);

    expect(mailOf(sandbox)[1]).toContain(
      `all events count as added: \`aws lambda invoke --region us-east-1 --function-name brand-events-sync:live --cli-read-timeout 900 --cli-binary-format base64 --payload {"action":"run","account":"uk","overDamaged":true} /dev/stdout\`.`,
    );
  });

  test("that another version has planned says so, and has the command that starts a new one", async () => {
    await using sandbox = await failedRun(new SyncError("STORE_FAILED", "for a moment"), "/record-");
    await sandbox.planByOtherVersion(RUN);

    await sandbox.retry({ scheduledAt: SCHEDULED_AT });

    expect(mailOf(sandbox)).toEqual(
      failureMail(
        `Why: OTHER_VERSION: The run ${RUN} was begun by another version of this program, so its staged work cannot be continued. Start a new run; it fetches all events again.`,
      ),
    );
  });

  test.each([
    [
      "stays one line of text, whatever is in its message",
      new SyncError(
        "CONFIG_INVALID",
        'a "quoted"\nline\\with <detail-mail-what> \u2028 and \u0007 mo\u200bre\r\n',
      ),
      "Why: CONFIG_INVALID: a 'quoted' line/with (detail-mail-what) and mo(U+200B)re",
    ],
    [
      "is cut where its message is very long",
      new SyncError("CONFIG_INVALID", "😀".repeat(5_000)),
      expect.stringMatching(/^Why: CONFIG_INVALID: .{1,2078}$/),
    ],
    [
      "with an unforeseen error quotes nothing of it",
      new RangeError("row of canary@example.test"),
      "Why: Unexpected error (RangeError). This is a defect: please report it.",
    ],
  ])("%s", async (_, error, why) => {
    await using sandbox = await failedRun(error);

    expect(mailOf(sandbox)).toEqual(failureMail(why));
  });
});

test("no mail is sent for a publication, a skipped start, or a failure that a retry follows", async () => {
  await using sandbox = await failedRun(new SyncError("STORE_FAILED", "for a moment"));
  await sandbox.retry({ scheduledAt: SCHEDULED_AT });
  await sandbox.invoke({ action: "accept", snapshotId: "none" }).catch(() => undefined);
  await sandbox.invoke({ action: "discover", limit: 2 });

  expect(sandbox.events.map(({ detailType }) => detailType)).toContain("Run Failed");
  expect(mailsOf(sandbox)).toEqual([]);
});

/** A run that fails where it writes this file. */
async function failedRun(error: Error, file = "plan.ndjson"): Promise<FunctionSandbox> {
  const sandbox = await FunctionSandbox.start({ events: makeEvents(3) });
  const store = interposed(sandbox.store, async (key) => {
    if (key.includes(file)) throw error;
  });
  await sandbox.invoke({ scheduledAt: SCHEDULED_AT }, { store }).catch(() => undefined);
  return sandbox;
}

const failureMail = (why: unknown, section = "failed"): readonly unknown[] => [
  `The run ${RUN} for the account uk failed. Readers keep what they have.`,
  why,
  ...afterwards,
  WHERE,
  `What to do, step by step: ${RUNBOOK}#${section}`,
];
