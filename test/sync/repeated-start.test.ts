// A start by hand as an event: Lambda may deliver it again, with the same request id, after the first one has ended.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { refusing } from "../job/run/interposed-store.ts";
import { inTimeEnough } from "../job/runtime/time-enough.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox, SCHEDULED_AT } from "./function-sandbox.ts";

const runsOf = ({ store }: FunctionSandbox): number =>
  new Set(store.keys(layout("uk").runLogs).map((key) => key.slice(0, -"-1.ndjson".length))).size;

describe("a start by hand that is delivered again", () => {
  test("sends nothing once its run has published, and says how it ended", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const first = await sandbox.invoke({});
    sandbox.simulator.reset();

    const again = await sandbox.retry({});

    expect(again).toEqual({ ...first, note: expect.stringContaining("finished before") });
    expect(sandbox.simulator.counts.requests).toBe(0);
    expect(runsOf(sandbox)).toBe(1);
    expect(sandbox.metrics.at(-1)?.values).toEqual({});
  });

  test("finds its run also with fresh, and after a check and a run of the schedule", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const first = await sandbox.invoke({ fresh: true });
    const { requestId } = sandbox;
    await sandbox.invoke({ action: "check" });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    const again = await sandbox.retry({ fresh: true }, {}, requestId);

    expect(again).toMatchObject({ outcome: "PUBLISHED", run_id: Object(first).run_id });
  });

  test("finds the run that the first delivery has continued", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    await sandbox.invoke({}, { store: refusing(sandbox.store, "_manifest.json") }).catch(() => undefined);
    const continued = await sandbox.invoke({});

    const again = await sandbox.retry({});

    expect(again).toEqual({ ...continued, note: expect.any(String) });
    expect(runsOf(sandbox)).toBe(1);
  });

  test("finds a run that failed for good, whose error it throws once more: no mail, no request", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const store = refusing(sandbox.store, "plan.ndjson", new SyncError("CONFIG_INVALID", "wrong"));
    await sandbox.invoke({}, { store }).catch(() => undefined);
    sandbox.simulator.reset();

    const again = sandbox.retry({});

    await expect(again).rejects.toMatchObject({ name: "CONFIG_INVALID" });
    expect(sandbox.simulator.counts.requests).toBe(0);
    expect(sandbox.events.at(-1)?.detail).not.toHaveProperty("mail");
  });

  test("finds a run that was handed over and finished by an execution", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const ports = { executions: sandbox.executions };
    let asked = 0;
    sandbox.timeLeft = () => (++asked === 1 ? 900_000 : 29_000);
    await sandbox.invoke({}, ports);
    const { requestId } = sandbox;
    sandbox.timeLeft = () => 900_000;
    const { running } = sandbox.executions;
    await sandbox.invoke({ action: "continue", ...running?.input, executionArn: running?.arn }, ports);

    const again = await sandbox.retry({}, ports, requestId);

    expect(again).toMatchObject({ outcome: "PUBLISHED", run_id: running?.input.runId });
    expect(runsOf(sandbox)).toBe(1);
  });
});

test("another start by hand makes another run", async () => {
  await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
  const first = await sandbox.invoke({});

  const second = await sandbox.invoke({});

  expect(Object(second).run_id).not.toBe(Object(first).run_id);
  expect(second).toMatchObject({ outcome: "PUBLISHED" });
});

describe("a run", () => {
  test("started by hand resumes the unfinished run, and logs under its id", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const store = refusing(sandbox.store, "_manifest.json");
    const failure = await sandbox.invoke({}, { store }).catch((error: unknown) => error);
    const unfinished = String(sandbox.log.known["run_id"]);
    sandbox.simulator.reset();

    const response = await sandbox.invoke({});

    expect(failure).toMatchObject({ name: "STORE_FAILED" });
    expect(response).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished });
    expect(sandbox.log.known["run_id"]).toBe(unfinished);
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("starts from the beginning with fresh", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    await sandbox.invoke({}, { store: refusing(sandbox.store, "_manifest.json") }).catch(() => undefined);
    sandbox.simulator.reset();

    await sandbox.invoke({ fresh: true });

    expect(sandbox.simulator.counts).toMatchObject({ logins: 1, details: 5 });
  });

  test("sends no more requests where little time is left", async () => {
    await using sandbox = await FunctionSandbox.start();
    let asked = 0;
    sandbox.timeLeft = () => (++asked === 1 ? 900_000 : 29_000);

    await expect(sandbox.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(sandbox.simulator.counts.details).toBe(0);
    expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
  });

  test("is aborted in the middle of its work when its time is over, and frees the lease", async () => {
    const lease = await inTimeEnough(140, async (limitMs) => {
      await using sandbox = await FunctionSandbox.start({
        faults: [{ match: { path: "detail", times: Infinity }, fault: { kind: "hang" } }],
      });
      let asked = 0;
      sandbox.timeLeft = () => (++asked === 1 ? limitMs : 40_000); // a part of a second, and then enough

      await expect(sandbox.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

      const isInItsWork = sandbox.simulator.counts.details > 0;
      return isInItsWork ? JSON.parse(sandbox.store.text(layout("uk").lease) ?? "") : undefined;
    });

    expect(lease).toMatchObject({ run_id: null });
  });
});
