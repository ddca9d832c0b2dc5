// Runs of the deployed function that one invocation cannot finish: the synthesized state machine continues them.

import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import type { FaultRule } from "../simulator/faults.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import type { Execution } from "../states/execution.ts";
import { DeployedAccounts } from "./deployed-accounts.ts";
import { LambdaFunction, metricLines, payload } from "./lambda-function.ts";
import { isAllowed } from "./policy.ts";

/** Each test works on an account of its own. */
const ACCOUNTS = { disturbed: {}, broken: {} };
type Account = keyof typeof ACCOUNTS;

const scheduledAt = "2026-01-02T06:00:00Z";
/**
 * Half of it is for sending requests, and its last quarter for what follows. Of each invocation the service answers so many
 * details at once, and the others in between: what is in flight when no more is sent.
 */
const LIMIT = { timeoutMs: 16_000 };
const AT_ONCE = 600;
const LATER_MS = 10_000;
const EVENTS = 1_600;

// In real time: a test waits for several invocations, and one of them for the end of one.
vi.setConfig({ testTimeout: 240_000 });

onEmulator("a run of the deployed function that is handed over", () => {
  let deployed: DeployedAccounts<Account>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS);
    deployed.deployment.stateMachine.turnTimeoutMs = LIMIT.timeoutMs;
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  /** The first invocation of the schedule, which has no time for all events. */
  async function start(account: Account): Promise<Readonly<Record<string, unknown>>> {
    const service = deployed.service(account);
    service.setEvents(makeEvents(EVENTS));
    let loggedInAtMs = 0;
    let details = 0;
    service.configure({
      onRequest: async ({ endpoint }) => {
        if (endpoint === "login") {
          loggedInAtMs = Date.now();
          details = 0;
        }
        const waitMs = loggedInAtMs + LATER_MS - Date.now();
        if (endpoint === "detail" && ++details > AT_ONCE && waitMs > 0) await setTimeout(waitMs);
      },
    });
    return payload(await deployed.deployment.function.invoke({ account, scheduledAt }, LIMIT));
  }

  const executionsOf = (account: Account): readonly Execution[] =>
    deployed.deployment.stateMachine.engine.executions.filter(({ start: { name } }) =>
      name.startsWith(`${account}-`),
    );
  const types = (execution: Execution | undefined): readonly string[] =>
    execution?.history.map(({ type }) => type) ?? [];
  const count = (execution: Execution | undefined, type: string): number =>
    types(execution).filter((each) => each === type).length;

  test("goes to its end over several invocations, of which some fail, and fetches each event once; further executions continue it before a history is full", async () => {
    const account = "disturbed";
    const { stateMachine, function: lambda } = deployed.deployment;
    const { definition } = lambda;
    await using oneTurn = new LambdaFunction({
      ...definition,
      environment: { ...definition.environment, MAX_TURNS: "1" },
    });
    stateMachine.function = oneTurn;
    // The first turn waits for the service and ends itself before Lambda does; the second one fails.
    deployed.service(account).configure({
      faults: [
        atLogin({ kind: "hang" }, { nth: 2 }),
        atLogin({ kind: "status", status: 500 }, { nth: 3, times: 2 }),
      ],
    });

    const answer = await start(account);
    await stateMachine.settled();
    stateMachine.function = lambda;

    expect(answer).toMatchObject({ outcome: "HANDED_OVER", account });
    const executions = executionsOf(account);
    expect(executions.length).toBeGreaterThan(1);
    for (const [index, execution] of executions.entries()) {
      expect(execution).toMatchObject({
        status: "SUCCEEDED",
        start: {
          name: `disturbed-20260102T060000000Z-${index + 1}`,
          input: { account, runId: "2026-01-02T06-00-00.000Z", turn: 0 },
        },
        output: { done: true, waitSeconds: 0, turn: 1 },
      });
    }
    expect(stateMachine.failures).toEqual(["INTERRUPTED", "SERVICE_UNAVAILABLE"]);
    // Full jitter, with the middle of all random numbers.
    expect(stateMachine.clock.waitsMs).toEqual(expect.arrayContaining([30_000, 60_000]));
    expect(JSON.stringify(answer["links"])).toContain(executions[0]?.start.arn);
    const { counts } = deployed.service(account);
    expect(counts).toMatchObject({ details: EVENTS, list: 1 });
    expect(Math.max(...counts.detailsByUuid.values())).toBe(1);
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const log = await deployed.rows("sync_runs", account);
    expect(new Set(log.map(({ trigger }) => trigger))).toEqual(new Set(["schedule"]));
    expect(log.map(({ outcome }) => outcome)).toEqual([
      "HANDED_OVER",
      "FAILED",
      "FAILED",
      ...log.slice(4).map(() => "HANDED_OVER"),
      "PUBLISHED",
    ]);
    expect(await deployed.invoke({ action: "status", account })).toMatchObject({ lease: null });
    const outcomes = metricLines([...lambda.lines, ...oneTurn.lines], account).map(({ values }) => values);
    expect(outcomes.at(-1)).toMatchObject({ Published: 1, Failed: 0 });
    for (const values of outcomes.slice(0, -1)) expect(values).not.toHaveProperty("Failed");
  });

  test("one that fails for good leaves readers what they see, frees the account and raises the alarm; a redrive fetches the rest", async () => {
    const account = "broken";
    const { stateMachine, function: lambda } = deployed.deployment;
    const service = deployed.service(account);
    await deployed.run(account, Date.UTC(2026, 0, 1, 6));
    const before = await deployed.events(account);
    service.reset();
    const unavailable = atLogin({ kind: "status", status: 500 }, { nth: 2, times: Number.POSITIVE_INFINITY });
    service.configure({ faults: [unavailable] });

    await start(account);
    await stateMachine.settled();

    const [execution] = executionsOf(account);
    const executionArn = execution?.start.arn ?? "";
    expect(execution).toMatchObject({ status: "FAILED", error: "SERVICE_UNAVAILABLE" });
    expect(count(execution, "LambdaFunctionFailed")).toBe(7);
    expect(stateMachine.abandoned.map(payload)).toMatchObject([{ abandoned: true, account }]);
    expect(failures(account)).toEqual([0, 1]);
    expect(await deployed.events(account)).toEqual(before);
    const { lease, runs } = await deployed.invoke({ action: "status", account });
    expect(lease).toBeNull();
    expect(runs).toContainEqual(
      expect.objectContaining({ outcome: "FAILED", error_code: "SERVICE_UNAVAILABLE" }),
    );
    const staged = service.counts.details;
    expect(staged).toBeGreaterThanOrEqual(1);
    expect(staged).toBeLessThan(EVENTS);

    service.configure({ faults: [] });
    stateMachine.engine.redrive(executionArn);
    await stateMachine.settled();

    expect(execution).toMatchObject({ status: "SUCCEEDED", redriveCount: 1 });
    expect(count(execution, "LambdaFunctionSucceeded")).toBeGreaterThan(1);
    expect(service.counts.details).toBe(EVENTS);
    expect(Math.max(...service.counts.detailsByUuid.values())).toBe(1);
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    expect(failures(account)).toEqual([0, 1, 0]);
    // The event again, much later.
    expect(payload(await lambda.invoke({ action: "abandon", executionArn }))).toMatchObject({
      abandoned: false,
    });
    expect(failures(account)).toEqual([0, 1, 0]);
  });

  test("the role's policies allow every call to AWS", () => {
    const { recorder, statements } = deployed.deployment;

    expect(recorder.calls.filter((call) => !isAllowed(statements, call))).toEqual([]);
    expect(new Set(recorder.calls.map(({ action }) => action))).toContain("states:DescribeExecution");
  });

  /** The values that the alarm has got. */
  function failures(account: Account): readonly unknown[] {
    return metricLines(deployed.deployment.function.lines, account).flatMap(({ values }) =>
      "Failed" in values ? [values["Failed"]] : [],
    );
  }
});

function atLogin(fault: FaultRule["fault"], match: Omit<FaultRule["match"], "path">): FaultRule {
  return { match: { path: "login", ...match }, fault };
}
