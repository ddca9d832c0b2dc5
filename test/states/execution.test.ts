// What `moto.aws.test.ts` does not compare with the emulator: time limits, redrives, stops, jitter, how much history is written,
// what is refused, and the events about executions.

import { describe, expect, it } from "vitest";
import { parseDefinition } from "./definition.ts";
import { answers, DONE, definition, failed, MACHINE, ok, RETRY, testEngine, type Work } from "./machine.ts";
import { EngineError } from "./states-engine.ts";

const INPUT = JSON.stringify({ name: "uk", turn: 0 });
const FIRST = "arn:aws:states:eu-west-1:123456789012:execution:machine:first";
const HOUR_MS = 3_600_000;

const codeOf = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
};

/** One execution from its start to its end. */
async function run(work: Work, machine?: unknown, random?: number) {
  const made = testEngine(work, machine, random);
  const execution = made.engine.start(MACHINE, "first", INPUT);
  await made.engine.idle();
  return { ...made, execution };
}

describe("an execution", () => {
  it("writes nine events for a turn, and three more for a retry", async () => {
    const turn = ok({ done: false, seconds: 1, turn: 1 });
    const events = async (...results: Parameters<typeof answers>): Promise<number> =>
      (await run(answers(...results))).execution.history.length;

    const shortest = await events(DONE);

    expect(await events(turn, DONE)).toBe(shortest + 9);
    expect(await events(turn, turn, DONE)).toBe(shortest + 18);
    expect(await events(failed("BUSY"), DONE)).toBe(shortest + 3);
  });

  it("fails when its history has 25,000 events", async () => {
    const { execution } = await run(answers(ok({ done: false, seconds: 1, turn: 1 })));

    expect(execution).toMatchObject({ status: "FAILED", error: "States.Runtime" });
    expect(execution.history).toHaveLength(25_000);
  });

  it("fails with the error of a state that fails", async () => {
    const machine = { StartAt: "No", States: { No: { Type: "Fail", Error: "NO", Cause: "it never works" } } };
    const { execution } = await run(answers(DONE), machine);

    expect(execution).toMatchObject({ status: "FAILED", error: "NO", cause: "it never works" });
  });

  it.each([
    ["no number of seconds to wait", { done: false, seconds: "soon", turn: 1 }, "States.Runtime"],
    ["nothing to wait for", { done: false, turn: 1 }, "States.Runtime"],
    ["nothing to choose by", { turn: 1 }, "States.Runtime"],
    ["no turn for the next call", { done: false, seconds: 1 }, "States.ParameterPathFailure"],
  ])("fails for good where an answer has %s", async (_, answer, error) => {
    expect((await run(answers(ok(answer)))).execution).toMatchObject({ status: "FAILED", error });
  });
});

describe("a task that fails", () => {
  it("is tried again after delays that double up to a limit, and then fails the execution", async () => {
    const { execution, clock, payloads } = await run(answers(failed("BUSY")));

    expect(clock.waitsMs).toEqual([60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
    expect(payloads).toHaveLength(7);
    expect(execution).toMatchObject({ status: "FAILED", error: "BUSY", cause: "it is BUSY" });
  });

  it.each([
    [0, [0, 0, 0, 0, 0, 0]],
    [0.25, [15_000, 30_000, 60_000, 120_000, 225_000, 225_000]],
  ])("with full jitter of %d waits between nothing and the delay", async (random, waitsMs) => {
    const machine = definition({ task: { Retry: [{ ...RETRY, JitterStrategy: "FULL" }] } });

    expect((await run(answers(failed("BUSY")), machine, random)).clock.waitsMs).toEqual(waitsMs);
  });

  it("fails with States.Timeout if it takes longer than its limit, whatever it returns then", async () => {
    const made = testEngine(() => {
      made.clock.advance(made.payloads.length === 1 ? 961_000 : 960_000);
      return DONE;
    });
    const execution = made.engine.start(MACHINE, "first", INPUT);
    await made.engine.idle();

    expect(execution.history.map(({ type }) => type)).toContain("LambdaFunctionTimedOut");
    expect(made.payloads).toHaveLength(2);
    expect(execution.status).toBe("SUCCEEDED");
  });
});

describe("the time limit of an execution", () => {
  it("ends it in the middle of a wait", async () => {
    const { execution, clock } = await run(
      answers(ok({ done: false, seconds: 5_000, turn: 1 })),
      definition({ TimeoutSeconds: 7_200 }),
    );

    expect(clock.waitsMs).toEqual([5_000_000, 2_200_000]);
    expect(execution).toMatchObject({ status: "TIMED_OUT", error: "States.Timeout" });
    expect((execution.stoppedAtMs ?? 0) - execution.startedAtMs).toBe(2 * HOUR_MS);
  });

  it("starts again with a redrive", async () => {
    const made = testEngine(
      answers(ok({ done: false, seconds: 5_000, turn: 1 })),
      definition({ TimeoutSeconds: 7_200 }),
    );
    const execution = made.engine.start(MACHINE, "first", INPUT);
    await made.engine.idle();

    made.engine.redrive(execution.start.arn);
    await made.engine.idle();

    expect(made.clock.waitsMs).toEqual([5_000_000, 2_200_000, 5_000_000, 2_200_000]);
    expect(execution.status).toBe("TIMED_OUT");
  });
});

describe("a redrive", () => {
  it("begins at the state that failed, with its input and all its retries, as the same execution", async () => {
    const busy = Array.from({ length: 6 }, () => failed("BUSY"));
    const turn = ok({ done: false, seconds: 7, turn: 3 });
    const made = testEngine(answers(turn, failed("BUSY"), ...busy, failed("BUSY"), DONE));
    const execution = made.engine.start(MACHINE, "first", INPUT);
    await made.engine.idle();
    const ended = {
      status: execution.status,
      stoppedAtMs: execution.stoppedAtMs,
      calls: made.payloads.length,
    };

    made.engine.redrive(execution.start.arn);
    await made.engine.idle();

    expect(ended).toMatchObject({ status: "FAILED", stoppedAtMs: expect.any(Number), calls: 8 });
    expect(made.payloads.slice(8)).toEqual([made.payloads[7], made.payloads[7]]);
    expect(made.payloads[7]).toMatchObject({ turn: 3 });
    expect(execution).toMatchObject({
      status: "SUCCEEDED",
      redriveCount: 1,
      error: undefined,
      cause: undefined,
    });
    expect(execution.history.map(({ type }) => type)).toContain("ExecutionRedriven");
  });
});

describe("an execution that is stopped", () => {
  it("ends at once, and the result of the task under way is dropped", async () => {
    const answer = Promise.withResolvers<ReturnType<typeof ok>>();
    const made = testEngine(() => answer.promise);
    const execution = made.engine.start(MACHINE, "first", INPUT);

    made.engine.stop(execution.start.arn);
    const status = execution.status;
    answer.resolve(DONE);
    await made.engine.idle();

    expect([status, execution.status]).toEqual(["ABORTED", "ABORTED"]);
    expect(execution.output).toBeUndefined();
    expect(execution.history.at(-1)?.type).toBe("ExecutionAborted");
  });
});

describe("the engine", () => {
  it("an execution that runs or has succeeded cannot be redriven", async () => {
    const { engine } = testEngine(answers(DONE));
    engine.start(MACHINE, "first", '{"name":"uk","turn":0}');

    const whileRunning = codeOf(() => engine.redrive(FIRST));
    await engine.idle();

    expect([whileRunning, codeOf(() => engine.redrive(FIRST))]).toEqual([
      "ExecutionNotRedrivable",
      "ExecutionNotRedrivable",
    ]);
  });

  it("each start and each end is announced with what AWS puts into the event", async () => {
    const { engine, changes } = testEngine(
      answers(failed("BROKEN"), ok({ done: true, seconds: 0, turn: 1 })),
    );
    engine.start(MACHINE, "first", '{"name":"uk","turn":0}');
    await engine.idle();
    engine.redrive(FIRST);
    await engine.idle();

    expect(changes.map(({ status }) => status)).toEqual(["RUNNING", "FAILED", "RUNNING", "SUCCEEDED"]);
    expect(changes[1]).toEqual({
      executionArn: FIRST,
      stateMachineArn: MACHINE,
      name: "first",
      status: "FAILED",
      input: '{"name":"uk","turn":0}',
    });
  });
});

const withStates = (States: object): object => ({
  ...definition(),
  States: { ...definition().States, ...States },
});

describe("a definition", () => {
  it("is run with what the language says by default", () => {
    const { States } = parseDefinition(definition({ task: { Retry: [{ ErrorEquals: ["BUSY"] }] } }));

    expect(States["Work"]).toMatchObject({
      Retry: [{ IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 3, JitterStrategy: "NONE" }],
    });
  });

  it.each([
    ["Catch", definition({ task: { Catch: [{ ErrorEquals: ["BUSY"], Next: "End" }] } }), "Catch"],
    ["ResultPath", definition({ task: { ResultPath: "$.answer" } }), "ResultPath"],
    ["JSONata", definition({ QueryLanguage: "JSONata" }), "QueryLanguage"],
    [
      "an integration",
      definition({ task: { Resource: "arn:aws:states:::lambda:invoke" } }),
      "ARN of a function",
    ],
    ["a task without a time limit", definition({ task: { TimeoutSeconds: undefined } }), "TimeoutSeconds"],
    [
      "a retry for all errors",
      definition({ task: { Retry: [{ ...RETRY, ErrorEquals: ["States.ALL"] }] } }),
      "stands for many errors",
    ],
    ["another kind of state", withStates({ Wait: { Type: "Map" } }), "States.Wait"],
    ["a wait of fixed length", withStates({ Wait: { Type: "Wait", Seconds: 1, Next: "Work" } }), "Seconds"],
    [
      "another comparison",
      withStates({ "Done?": { Type: "Choice", Choices: [{ Variable: "$.a", IsNull: true, Next: "End" }] } }),
      "IsNull",
    ],
    ["a state that is not there", definition({ task: { Next: "Nowhere" } }), "there is no state Nowhere"],
    [
      "a state without a next one",
      definition({ task: { Next: undefined } }),
      "Work: expected either Next or End",
    ],
  ])("with %s is refused", (_, machine, says) => {
    expect(() => parseDefinition(machine)).toThrow(says);
  });

  it.each(["$.a[0]", "$..a", "States.Format('{}', $.a)", "a"])(
    "with the path %s is refused when it is read",
    async (path) => {
      const { engine } = testEngine(answers(DONE), definition({ task: { Parameters: { "value.$": path } } }));

      engine.start(MACHINE, "first", "{}");

      await expect(engine.idle()).rejects.toThrow(`This path is not read here: ${path}`);
    },
  );
});
