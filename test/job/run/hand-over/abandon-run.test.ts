import { expect, test } from "vitest";
import type { EndStatus } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN } from "./hand-over-world.ts";

const SMALL = { events: 12, shardSize: 4, requestMs: 1_000, limitSeconds: 14 };
const CAUSE = JSON.stringify({
  errorType: "SERVICE_UNAVAILABLE",
  errorMessage: "The service is down.",
  trace: [],
});

async function ended(status: EndStatus, error?: string, cause?: string) {
  const world = new HandOverWorld(SMALL);
  await world.first();
  const arn = world.executions.arnOf(FIRST);
  world.executions.end(arn, status, error, cause);
  return { world, arn };
}

test.each<{
  readonly status: EndStatus;
  readonly error?: string;
  readonly cause?: string;
  readonly code: string;
  readonly says: string;
}>([
  {
    status: "FAILED",
    error: "SERVICE_UNAVAILABLE",
    cause: CAUSE,
    code: "SERVICE_UNAVAILABLE",
    says: `The service is down. The execution ${FIRST} has ended with this error.`,
  },
  {
    status: "FAILED",
    error: "CONFIG_INVALID",
    cause: CAUSE,
    code: "CONFIG_INVALID",
    says: "The service is down.",
  },
  {
    status: "FAILED",
    error: "SERVICE_UNAVAILABLE",
    cause: "not JSON",
    code: "INTERRUPTED",
    says: `The execution ${FIRST} has ended as FAILED (SERVICE_UNAVAILABLE).`,
  },
  {
    status: "FAILED",
    error: "Lambda.Unknown",
    cause: CAUSE,
    code: "INTERRUPTED",
    says: "as FAILED (Lambda.Unknown).",
  },
  { status: "TIMED_OUT", code: "INTERRUPTED", says: `The execution ${FIRST} has ended as TIMED_OUT.` },
  {
    status: "ABORTED",
    error: "a b\nc",
    cause: "x",
    code: "INTERRUPTED",
    says: "has ended as ABORTED. ",
  },
])(
  "an execution that ended as $status ($error) is recorded as $code, and its run stays unfinished",
  async (one) => {
    const { world, arn } = await ended(one.status, one.error, one.cause);

    const abandonment = await world.abandon(arn);

    const [line] = world.log().slice(-1);
    expect(abandonment).toMatchObject({ result: { isAbandoned: true, error: { code: one.code } } });
    expect(line).toMatchObject({
      outcome: "FAILED",
      trigger: "schedule",
      error_code: one.code,
      requests: null,
    });
    expect(line?.["error_message"]).toContain(one.says);
    expect(line?.["error_message"]).toContain("redrive the execution");
    expect(world.small.store.text(layout.outcome(ACCOUNT, RUN))).toBeUndefined();
    expect(world.lease()).toMatchObject({ run_id: null, handed_over: { run_id: RUN, n: 1 } });
  },
);

test("the event about the end delivered twice does nothing the second time", async () => {
  const { world, arn } = await ended("FAILED");

  const both = await Promise.all([world.abandon(arn), world.abandon(arn)]);

  expect(both.filter((each) => "result" in each)).toHaveLength(1);
  expect(world.log().filter(({ outcome }) => outcome === "FAILED")).toHaveLength(1);
});

test("a late event does nothing to a start that has taken over, or to an execution that runs again", async () => {
  const { world, arn } = await ended("FAILED");
  await world.first();
  const lease = world.lease();

  const afterTakeOver = await world.abandon(arn);
  world.executions.redrive(arn);
  const afterRedrive = await world.abandon(arn);

  expect(afterTakeOver).toEqual({ explanation: expect.stringContaining("does not have the lease") });
  expect(afterRedrive).toEqual({ explanation: expect.stringContaining("has not ended") });
  expect(world.lease()).toEqual(lease);
  expect(world.log().filter(({ outcome }) => outcome === "FAILED")).toEqual([]);
});

test("an execution that has succeeded is not abandoned", async () => {
  const { world, arn } = await ended("SUCCEEDED");
  const lease = world.lease();

  expect(await world.abandon(arn)).toEqual({ explanation: expect.stringContaining("has succeeded") });
  expect(world.lease()).toEqual(lease);
});

test("a run that is finished keeps its outcome; only the lease is freed", async () => {
  const { world, arn } = await ended("FAILED");
  const left = world.small.store.text(layout.lease(ACCOUNT)) ?? "";
  world.executions.redrive(arn);
  await world.play();
  world.executions.end(arn, "FAILED");
  world.small.store.put(layout.lease(ACCOUNT), left);
  const lines = world.log().length;

  expect(await world.abandon(arn)).toEqual({ explanation: expect.stringContaining("was finished before") });
  expect(world.lease()).toMatchObject({ run_id: null });
  expect(world.log()).toHaveLength(lines);
});

test("what a turn that was killed may have sent counts as used", async () => {
  const { world, arn } = await ended("FAILED", "Lambda.Unknown");
  world.small.settings = { ...world.small.settings, requestsPerMinute: 200 };
  world.small.store.put(
    layout.lease(ACCOUNT),
    JSON.stringify({ ...world.lease(), holder: { token: "killed" }, use: [] }),
  );

  await world.abandon(arn);

  expect(world.lease()["use"]).toEqual([{ atMs: expect.any(Number), requests: 200, bytes: 0 }]);
});

test("a redrive after the end was recorded finishes the run with what is missing", async () => {
  const { world, arn } = await ended("FAILED");
  await world.abandon(arn);
  world.executions.redrive(arn);

  const turns = await world.play();

  expect(turns.at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", run_id: RUN, trigger: "schedule" });
  expect(world.small.details).toBe(12);
  expect(world.lease()).toMatchObject({ run_id: null });
});
