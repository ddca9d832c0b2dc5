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

  test.each([
    { event: {}, request: run },
    { event: undefined, request: run },
    { event: { account: "uk" }, request: run },
    { event: { action: "run", fresh: true }, request: { ...run, fresh: true } },
    { event: { overDamaged: true }, request: { ...run, overDamaged: true } },
    { event: { dryRun: true, limit: 5 }, request: { ...run, dryRun: true, limit: 5 } },
    {
      event: { account: "uk", scheduledAt: "2026-11-21T06:00:00Z" },
      request: { ...run, scheduledAt: "2026-11-21T06:00:00Z" },
    },
    { event: { action: "check" }, request: { action: "check", account: "uk" } },
    { event: { action: "status" }, request: { action: "status", account: "uk" } },
    { event: { action: "discover" }, request: { action: "discover", account: "uk", limit: 50 } },
    {
      event: { action: "accept", snapshotId: "x" },
      request: { action: "accept", account: "uk", snapshotId: "x", force: false },
    },
    {
      event: { action: "rollback", snapshotId: "x", pin: false },
      request: { action: "rollback", account: "uk", snapshotId: "x", pin: false },
    },
    {
      event: { action: "rollback", snapshotId: "x", overDamaged: true },
      request: { action: "rollback", account: "uk", snapshotId: "x", pin: true, overDamaged: true },
    },
    {
      event: { action: "accept", snapshotId: "x", overDamaged: true },
      request: { action: "accept", account: "uk", snapshotId: "x", force: false, overDamaged: true },
    },
    { event: TURN, request: TURN },
    {
      event: { action: "abandon", executionArn: EXECUTION },
      request: { action: "abandon", account: "uk", executionArn: EXECUTION },
    },
  ])("$event is $request", ({ event, request }) => {
    expect(parseRequest(event, ["uk"], NOW).request).toEqual(request);
  });

  test.each([
    { event: "run", says: "expected a JSON object and got a string" },
    { event: null, says: "expected a JSON object and got null" },
    { event: [], says: "expected a JSON object and got an array" },
    { event: { acount: "uk", dryrun: true }, says: "acount, dryrun: not known for this action" },
    { event: { action: "check", dryRun: true }, says: "dryRun: not known for this action" },
    {
      event: { action: "go" },
      says: "expected run, check, discover, status, diff, accept, rollback, retire, continue or abandon",
    },
    { event: { ...TURN, turn: -1 }, says: "turn: expected a whole number from 0 to 1000000000, and got -1" },
    { event: { ...TURN, runId: "2026-11-22T06-00-00.000Z" }, says: "executionArn: it names another" },
    { event: { ...TURN, dryRun: true }, says: "dryRun: not known for this action" },
    { event: { action: "abandon" }, says: "executionArn: expected the ARN of an execution" },
    {
      event: { action: "abandon", executionArn: "arn:aws:states:eu-west-1:1:execution:m:x" },
      says: "executionArn: expected the ARN of an execution",
    },
    {
      event: { action: "abandon", executionArn: EXECUTION.replace("uk-", "fr-") },
      says: '"fr" is not one of this deployment\'s accounts (uk)',
    },
    { event: { account: "fr" }, says: '"fr" is not one of this deployment\'s accounts (uk)' },
    { event: { account: 7 }, says: "account: expected the name of an account, and got 7" },
    { event: { limit: 5 }, says: "limit: needs dryRun" },
    {
      event: { dryRun: true, limit: 0 },
      says: "limit: expected a whole number from 1 to 1000000000, and got 0",
    },
    { event: { dryRun: "yes" }, says: 'dryRun: expected true or false, and got "yes"' },
    {
      event: { action: "accept" },
      says: "snapshotId: expected the id of a snapshot, such as 2026-11-21T06-00-00.000Z, and got nothing",
    },
    {
      event: { scheduledAt: "tomorrow" },
      says: 'scheduledAt: expected an instant such as 2026-11-21T06:00:00Z, and got "tomorrow"',
    },
    { event: { scheduledAt: "<aws.scheduler.scheduled-time>" }, says: "scheduledAt: " },
    { event: { scheduledAt: "2026-11-21T06:06:00Z" }, says: "lies in the future" },
    {
      event: { scheduledAt: "2026-11-21T06:00:00Z", fresh: true },
      says: "cannot be used with dryRun, fresh",
    },
    {
      event: { scheduledAt: "2026-11-21T06:00:00Z", dryRun: true },
      says: "cannot be used with dryRun, fresh",
    },
    { event: { scheduledAt: "2026-11-21T06:00:00Z", overDamaged: true }, says: "overDamaged" },
  ])("$event is refused: $says", ({ event, says }) => {
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
