import { describe, expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { FunctionPorts } from "../../../lambdas/sync/function-ports.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { FunctionSandbox, NEXT_DAY, RUN, SCHEDULED_AT } from "../function-sandbox.ts";

const NAME = `uk-${RUN.replaceAll(/[-.]/g, "")}-1`;

/** A function that was deployed with a state machine, and whose first invocation has no time for events. */
async function handedOver(): Promise<{
  readonly sandbox: FunctionSandbox;
  readonly ports: Partial<FunctionPorts>;
  readonly first: object;
  readonly arn: string;
}> {
  const sandbox = await FunctionSandbox.start({ events: makeEvents(20) });
  const ports = { executions: sandbox.executions };
  let asked = 0;
  sandbox.timeLeft = () => (++asked === 1 ? 900_000 : 29_000);
  const first = await sandbox.invoke({ scheduledAt: SCHEDULED_AT }, ports);
  sandbox.timeLeft = () => 900_000;
  return { sandbox, ports, first, arn: sandbox.executions.arnOf(NAME) };
}

const turnOf = (executionArn: string, turn = 0): object => ({
  action: "continue",
  account: "uk",
  runId: RUN,
  executionArn,
  turn,
});

test("a run that stops early is handed over: the response names the execution and links to it", async () => {
  const { sandbox, first, arn } = await handedOver();
  await using _ = sandbox;

  expect(first).toMatchObject({
    outcome: "HANDED_OVER",
    summary: "the run continues in an execution of the state machine",
    reason: "TIME_LIMIT",
    explanation: expect.stringContaining(`the execution ${NAME} of the state machine`),
    run_id: RUN,
    counts: { listed: 20, events: null },
    links: { execution: expect.stringMatching(new RegExp(`/states/home.*/executions/details/${arn}$`)) },
  });
  expect(sandbox.executions.running?.input).toEqual({ account: "uk", runId: RUN, turn: 0 });
  expect(sandbox.metrics).toEqual([
    { account: "uk", values: { DurationSeconds: expect.any(Number), Throttled: 0 } },
  ]);
  expect(sandbox.events.map(({ detailType }) => detailType)).toEqual(["Run Started"]);
});

test("a turn of the execution finishes the run, reports it and frees the lease; another one is done at once", async () => {
  const { sandbox, ports, arn } = await handedOver();
  await using _ = sandbox;

  const turn = await sandbox.invoke(turnOf(arn), ports);
  const again = await sandbox.invoke(turnOf(arn, 1), ports);

  expect(turn).toEqual({ done: true, waitSeconds: 0, turn: 1 });
  expect(again).toEqual({ done: true, waitSeconds: 0, turn: 2 });
  expect(sandbox.metrics.at(1)?.values).toMatchObject({ Published: 1, Failed: 0, Events: 20 });
  expect(sandbox.events).toMatchObject([
    { detailType: "Run Started" },
    { detailType: "Snapshot Published", detail: { trigger: "schedule" } },
    { detailType: "Snapshot Published" },
  ]);
  expect(sandbox.simulator.counts).toMatchObject({ requests: 23, logins: 2, details: 20 });
  expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
  expect(sandbox.log.known).toMatchObject({ run_id: RUN });
});

test("a turn that finds a plan of another version tells a person, and frees the account for a new run", async () => {
  const { sandbox, ports, arn } = await handedOver();
  await using _ = sandbox;
  await sandbox.planByOtherVersion(RUN);
  sandbox.events.length = 0;

  const turn = await sandbox.invoke(turnOf(arn), ports);
  const failure = sandbox.events;
  const next = await sandbox.invoke({ scheduledAt: NEXT_DAY }, ports);

  expect(turn).toEqual({ done: true, waitSeconds: 0, turn: 1 });
  expect(failure.slice(0, 1)).toMatchObject([
    {
      detailType: "Run Failed",
      detail: {
        run_id: RUN,
        error_code: null,
        error_message: expect.stringContaining("was begun by another version of this program"),
        finished: true,
        mail: { section: "failed", line2: expect.stringMatching(/^Why: OTHER_VERSION: /) },
      },
    },
  ]);
  expect(sandbox.metrics[1]?.values).toEqual({ Skipped: 1, Failed: 1, DurationSeconds: expect.any(Number) });
  expect(next).toMatchObject({ outcome: "PUBLISHED" });
});

test("a turn that stops early asks for the next one, and has its own line in the run log", async () => {
  const { sandbox, ports, arn } = await handedOver();
  await using _ = sandbox;
  let isStaged = false;
  sandbox.timeLeft = () => {
    isStaged ||= sandbox.store.keys(layout("uk").run(RUN)).some((key) => key.includes("/record-"));
    return isStaged ? 1_000 : 900_000;
  };

  const turn = await sandbox.invoke(turnOf(arn, 4), ports);

  expect(turn).toEqual({ done: false, waitSeconds: 0, turn: 5 });
  const line = JSON.parse(sandbox.store.text(layout("uk").runLog(RUN, 2)) ?? "");
  expect(line).toMatchObject({ outcome: "HANDED_OVER", trigger: "schedule", requests: 21, logins: 1 });
});

describe("a turn that fails", () => {
  test("throws the code as the name of the error; one that no retry can fix finishes the run", async () => {
    const { sandbox, ports, arn } = await handedOver();
    await using _ = sandbox;
    sandbox.credentials = { method: "session", email: "a@example.test", password: "wrong" };

    await expect(sandbox.invoke(turnOf(arn), ports)).rejects.toMatchObject({ name: "LOGIN_REFUSED" });

    expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
    expect(sandbox.store.text(layout("uk").outcome(RUN))).toContain("LOGIN_REFUSED");
  });

  test("because of the catalog is not counted as behind, however many attempts the run has had", async () => {
    const { sandbox, ports, arn } = await handedOver();
    await using _ = sandbox;
    const refresh = () => Promise.reject(new SyncError("CATALOG_FAILED", "Glue refused a call."));
    const failing = { ...ports, catalog: { refresh } };

    for (let n = 0; n < 3; n += 1) {
      await expect(sandbox.invoke(turnOf(arn), failing)).rejects.toMatchObject({ name: "CATALOG_FAILED" });
    }

    expect(sandbox.metrics.map(({ values }) => values.CatalogBehind)).toEqual(Array(4).fill(undefined));
  });
});

describe("an execution that ended without success", () => {
  const cause = JSON.stringify({ errorMessage: "The service is down." });

  test("is abandoned once: the lease is free, the failure is logged, counted and announced", async () => {
    const { sandbox, ports, arn } = await handedOver();
    await using _ = sandbox;
    sandbox.executions.end(arn, "FAILED", "SERVICE_UNAVAILABLE", cause);

    const first = await sandbox.invoke({ action: "abandon", executionArn: arn }, ports);
    const second = await sandbox.invoke({ action: "abandon", executionArn: arn }, ports);

    expect(first).toMatchObject({ abandoned: true, account: "uk", run_id: RUN });
    expect(second).toMatchObject({ abandoned: false });
    expect(sandbox.metrics.slice(1).map(({ values }) => values)).toEqual([{ Failed: 1 }]);
    expect(sandbox.events).toMatchObject([
      { detailType: "Run Started" },
      {
        detailType: "Run Failed",
        detail: { error_code: "SERVICE_UNAVAILABLE", finished: false, trigger: "schedule" },
      },
    ]);
    expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
  });
});

test.each(["continue", "abandon"])(
  "%s of an execution of another state machine is refused",
  async (action) => {
    await using sandbox = await FunctionSandbox.start();
    const executionArn = `arn:aws:states:eu-west-1:123456789012:execution:other:${NAME}`;
    const event = action === "continue" ? turnOf(executionArn) : { action, executionArn };

    await expect(sandbox.invoke(event, { executions: sandbox.executions })).rejects.toMatchObject({
      name: "CONFIG_INVALID",
    });
    await expect(sandbox.invoke(event)).rejects.toMatchObject({ name: "CONFIG_INVALID" });

    expect(sandbox.store.keys()).toEqual([]);
  },
);
