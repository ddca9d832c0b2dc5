import { describe, expect, test } from "vitest";
import { parseRequest } from "../../lambdas/sync/actions.ts";

const EXECUTION = "arn:aws:states:eu-west-1:123456789012:execution:Stack:uk-20261121T060000000Z-1";
const TURN = {
  action: "continue",
  account: "uk",
  runId: "2026-11-21T06-00-00.000Z",
  executionArn: EXECUTION,
  turn: 0,
};
const NOW = Date.UTC(2026, 10, 21, 6);

describe("a request of a deployment with one account", () => {
  const run = { action: "run", account: "uk", dryRun: false, fresh: false };

  test.each<[event: unknown, request: object]>([
    [{}, run],
    [undefined, run],
    [{ account: "uk" }, run],
    [
      { action: "run", fresh: true },
      { ...run, fresh: true },
    ],
    [{ overDamaged: true }, { ...run, overDamaged: true }],
    [
      { dryRun: true, limit: 5 },
      { ...run, dryRun: true, limit: 5 },
    ],
    [
      { account: "uk", scheduledAt: "2026-11-21T06:00:00Z" },
      { ...run, scheduledAt: "2026-11-21T06:00:00Z" },
    ],
    [{ action: "check" }, { action: "check", account: "uk" }],
    [{ action: "status" }, { action: "status", account: "uk" }],
    [{ action: "discover" }, { action: "discover", account: "uk", limit: 50 }],
    [
      { action: "accept", snapshotId: "x" },
      { action: "accept", account: "uk", snapshotId: "x", force: false },
    ],
    [
      { action: "rollback", snapshotId: "x", pin: false },
      { action: "rollback", account: "uk", snapshotId: "x", pin: false },
    ],
    [
      { action: "rollback", snapshotId: "x", overDamaged: true },
      { action: "rollback", account: "uk", snapshotId: "x", pin: true, overDamaged: true },
    ],
    [
      { action: "accept", snapshotId: "x", overDamaged: true },
      { action: "accept", account: "uk", snapshotId: "x", force: false, overDamaged: true },
    ],
    [TURN, TURN],
    [
      { action: "abandon", executionArn: EXECUTION },
      { action: "abandon", account: "uk", executionArn: EXECUTION },
    ],
  ])("%j is %j", (event, request) => {
    expect(parseRequest(event, ["uk"], NOW).request).toEqual(request);
  });

  test.each<[event: unknown, says: string]>([
    ["run", "expected a JSON object and got a string"],
    [null, "expected a JSON object and got null"],
    [[], "expected a JSON object and got an array"],
    [{ acount: "uk", dryrun: true }, "acount, dryrun: not known for this action"],
    [{ action: "check", dryRun: true }, "dryRun: not known for this action"],
    [
      { action: "go" },
      "expected run, check, discover, status, diff, accept, rollback, retire, continue or abandon",
    ],
    [{ ...TURN, turn: -1 }, "turn: expected a whole number from 0 to 1000000000, and got -1"],
    [{ ...TURN, runId: "2026-11-22T06-00-00.000Z" }, "executionArn: it names another"],
    [{ ...TURN, dryRun: true }, "dryRun: not known for this action"],
    [{ action: "abandon" }, "executionArn: expected the ARN of an execution"],
    [
      { action: "abandon", executionArn: "arn:aws:states:eu-west-1:1:execution:m:x" },
      "executionArn: expected the ARN of an execution",
    ],
    [
      { action: "abandon", executionArn: EXECUTION.replace("uk-", "fr-") },
      '"fr" is not one of this deployment\'s accounts (uk)',
    ],
    [{ account: "fr" }, '"fr" is not one of this deployment\'s accounts (uk)'],
    [{ account: 7 }, "account: expected the name of an account, and got 7"],
    [{ limit: 5 }, "limit: needs dryRun"],
    [{ dryRun: true, limit: 0 }, "limit: expected a whole number from 1 to 1000000000, and got 0"],
    [{ dryRun: "yes" }, 'dryRun: expected true or false, and got "yes"'],
    [
      { action: "accept" },
      "snapshotId: expected the id of a snapshot, such as 2026-11-21T06-00-00.000Z, and got nothing",
    ],
    [
      { scheduledAt: "tomorrow" },
      'scheduledAt: expected an instant such as 2026-11-21T06:00:00Z, and got "tomorrow"',
    ],
    [{ scheduledAt: "<aws.scheduler.scheduled-time>" }, "scheduledAt: "],
    [{ scheduledAt: "2026-11-21T06:06:00Z" }, "lies in the future"],
    [{ scheduledAt: "2026-11-21T06:00:00Z", fresh: true }, "cannot be used with dryRun, fresh"],
    [{ scheduledAt: "2026-11-21T06:00:00Z", dryRun: true }, "cannot be used with dryRun, fresh"],
    [{ scheduledAt: "2026-11-21T06:00:00Z", overDamaged: true }, "overDamaged"],
  ])("%j is refused: %s", (event, says) => {
    const parse = (): unknown => parseRequest(event, ["uk"], NOW);

    expect(parse).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(parse).toThrow(says);
  });
});

test("an instant that the function's clock has almost reached is accepted: clocks differ", () => {
  const { request } = parseRequest({ scheduledAt: "2026-11-21T06:04:00Z" }, ["uk"], NOW);

  expect(request).toMatchObject({ scheduledAt: "2026-11-21T06:04:00Z" });
});

test("a request names the account if the deployment has several", () => {
  expect(() => parseRequest({}, ["uk", "de"], NOW)).toThrow(
    'this deployment has several (uk, de), so say which, for example {"account": "uk"}',
  );
  expect(parseRequest({ account: "de" }, ["uk", "de"], NOW).request.account).toBe("de");
});
