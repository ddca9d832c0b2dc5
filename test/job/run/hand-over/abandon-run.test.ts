import { describe, expect, test } from "vitest";
import type { EndStatus } from "../../../../lambdas/job/run/hand-over/executions.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { said } from "../../../words/said.ts";
import { Crashed, CrashPoint, type Moment } from "../crash.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN, SMALL } from "./hand-over-world.ts";

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

const DOWN = `The service is down. The execution ${FIRST} has ended with this error.`;

test.each<{ status?: EndStatus; error?: string; cause?: string; code: string; says: string }>([
  { error: "SERVICE_UNAVAILABLE", cause: CAUSE, code: "SERVICE_UNAVAILABLE", says: DOWN },
  { error: "CONFIG_INVALID", cause: CAUSE, code: "CONFIG_INVALID", says: "The service is down." },
  {
    error: "THROTTLED",
    cause: "not JSON",
    code: "INTERRUPTED",
    says: `${FIRST} has ended as FAILED (THROTTLED).`,
  },
  { error: "Lambda.Unknown", cause: CAUSE, code: "INTERRUPTED", says: "as FAILED (Lambda.Unknown)." },
  { status: "TIMED_OUT", code: "INTERRUPTED", says: `The execution ${FIRST} has ended as TIMED_OUT.` },
  { status: "ABORTED", error: "a b\nc", cause: "x", code: "INTERRUPTED", says: "has ended as ABORTED. " },
])(
  "an execution that ended as $status ($error) is recorded as $code, and its run stays unfinished",
  async (one) => {
    const { world, arn } = await ended(one.status ?? "FAILED", one.error, one.cause);

    const abandonment = await world.abandon(arn);

    const [line] = world.log().slice(-1);
    expect(abandonment).toMatchObject({ result: { isAbandoned: true, error: { code: one.code } } });
    expect(line).toMatchObject({
      outcome: "FAILED",
      trigger: "schedule",
      reason: null,
      error_code: one.code,
      requests: null,
    });
    expect(line?.["error_message"]).toContain(one.says);
    expect("result" in abandonment && said(abandonment.result.error)).toContain("redrive the execution");
    expect(world.small.store.text(layout(ACCOUNT).outcome(RUN))).toBeUndefined();
    expect(world.lease()).toMatchObject({ run_id: null, handed_over: { run_id: RUN, n: 1 } });
  },
);

test("the lease keeps what it says of the last start by hand", async () => {
  const { world, arn } = await ended("FAILED");
  const started = { request_id: "request-1", run_id: RUN };
  world.small.store.put(layout(ACCOUNT).lease, JSON.stringify({ ...world.lease(), started }));

  await world.abandon(arn);

  expect(world.lease()).toMatchObject({ run_id: null, started });
});

test("the event about the end delivered twice does nothing the second time", async () => {
  const { world, arn } = await ended("FAILED");

  const both = await Promise.all([world.abandon(arn), world.abandon(arn)]);

  expect(both.filter((each) => "result" in each)).toHaveLength(1);
  expect(world.log().filter(({ outcome }) => outcome === "FAILED")).toHaveLength(1);
});

describe.each<Moment>(["before", "after"])("killed %s", (moment) => {
  test.each(["create run-log/", "replace accounts/", "report"])(
    "%s, a repetition completes it, and the row is written once",
    async (effect) => {
      const { world, arn } = await ended("FAILED");
      const point = new CrashPoint(effect, moment);
      const reported: RunResult[] = [];
      const onAbandoned = async (result: RunResult): Promise<void> => {
        reported.push(result);
      };
      const dying = {
        ...point.wrap(world.ports()),
        onAbandoned: (result: RunResult) => point.effect("report", () => onAbandoned(result)),
      };

      await expect(world.abandon(arn, dying)).rejects.toThrow(Crashed);
      await world.abandon(arn, { onAbandoned });

      const failed = world.log().filter(({ outcome }) => outcome === "FAILED");
      expect(failed).toHaveLength(1);
      expect(reported.length).toBeGreaterThan(0);
      expect(new Set(reported.map(({ row }) => row.attempt))).toEqual(new Set([failed[0]?.["attempt"]]));
      expect(world.lease()).toMatchObject({ run_id: null });
    },
  );
});

test("an execution that is started again and fails again is a failure of its own", async () => {
  const { world, arn } = await ended("FAILED");
  const left = world.small.store.text(layout(ACCOUNT).lease) ?? "";
  await world.abandon(arn);
  world.small.store.put(layout(ACCOUNT).lease, left);
  world.executions.redrive(arn);
  world.executions.end(arn, "ABORTED");

  await world.abandon(arn);

  expect(world.log().filter(({ outcome }) => outcome === "FAILED")).toHaveLength(2);
});

test("a turn of an execution that is started again meanwhile keeps its lease", async () => {
  const { world, arn } = await ended("FAILED");
  const redriven = JSON.stringify({ ...world.lease(), holder: { token: "turn" } });
  const onAbandoned = async (): Promise<void> => {
    world.executions.redrive(arn);
    world.small.store.put(layout(ACCOUNT).lease, redriven);
  };

  const abandonment = await world.abandon(arn, { onAbandoned });

  expect(abandonment).toEqual({ explanation: expect.stringContaining("has not ended") });
  expect(world.lease()).toMatchObject({ execution: arn, holder: { token: "turn" } });
});

test("a start that takes over before the event came records and reports the failure, once", async () => {
  const { world, arn } = await ended("FAILED", "SERVICE_UNAVAILABLE", CAUSE);
  const reported: RunResult[] = [];

  const { row } = await world.first({ onAbandoned: async (result) => void reported.push(result) });
  await world.abandon(arn);

  expect(row.outcome).toBe("HANDED_OVER");
  expect(reported).toMatchObject([{ isAbandoned: true, error: { code: "SERVICE_UNAVAILABLE" } }]);
  expect(world.log().map(({ outcome }) => outcome)).toEqual(["HANDED_OVER", "FAILED", "HANDED_OVER"]);
});

test("a start that takes over from an execution that has succeeded records no failure", async () => {
  const { world } = await ended("SUCCEEDED");

  await world.first();

  expect(world.log().map(({ outcome }) => outcome)).toEqual(["HANDED_OVER", "HANDED_OVER"]);
});

test.each<[string, (world: HandOverWorld, arn: string) => unknown, string]>([
  ["another start has taken over", (world) => world.first(), "does not have the lease"],
  ["the execution runs again", ({ executions }, arn) => executions.redrive(arn), "has not ended"],
  ["the execution has succeeded", ({ executions }, arn) => executions.end(arn, "SUCCEEDED"), "has succeeded"],
  [
    "the lease is damaged",
    ({ small }) => small.store.put(layout(ACCOUNT).lease, "damaged"),
    "does not have the lease",
  ],
  [
    "there is no lease",
    ({ small }) => small.store.delete([layout(ACCOUNT).lease]),
    "does not have the lease",
  ],
])("an event about the end does nothing where %s by then", async (_, change, says) => {
  const { world, arn } = await ended("FAILED");
  await change(world, arn);
  const lease = world.small.store.text(layout(ACCOUNT).lease);
  const lines = world.log();

  expect(await world.abandon(arn)).toEqual({ explanation: expect.stringContaining(says) });
  expect(world.small.store.text(layout(ACCOUNT).lease)).toBe(lease);
  expect(world.log()).toEqual(lines);
});

test("a run that is finished keeps its outcome; only the lease is freed", async () => {
  const { world, arn } = await ended("FAILED");
  const left = world.small.store.text(layout(ACCOUNT).lease) ?? "";
  world.executions.redrive(arn);
  await world.play();
  world.executions.end(arn, "FAILED");
  world.small.store.put(layout(ACCOUNT).lease, left);
  const lines = world.log().length;

  expect(await world.abandon(arn)).toEqual({ explanation: expect.stringContaining("was finished before") });
  expect(world.lease()).toMatchObject({ run_id: null });
  expect(world.log()).toHaveLength(lines);
});

test("what a turn that was killed may have sent counts as used", async () => {
  const { world, arn } = await ended("FAILED", "Lambda.Unknown");
  world.small.settings = { ...world.small.settings, requestsPerMinute: 200 };
  world.small.store.put(
    layout(ACCOUNT).lease,
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
