// The calls of the engine: starting, describing, stopping and redriving executions, and the events about them.

import { expect, it } from "vitest";
import { answers, DONE, failed, MACHINE, ok, testEngine } from "./machine.ts";
import { EngineError } from "./states-engine.ts";

const FIRST = "arn:aws:states:eu-west-1:123456789012:execution:machine:first";

const codeOf = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
};

it("a second start with the name and input of a running execution is the same execution", async () => {
  const { engine, payloads } = testEngine(answers(DONE));

  const first = engine.start(MACHINE, "first", '{"name":"uk","turn":0}');
  const second = engine.start(MACHINE, "first", '{ "name": "uk", "turn": 0 }');
  await engine.idle();

  expect(second).toBe(first);
  expect(first.start.arn).toBe(FIRST);
  expect(payloads).toHaveLength(1);
});

it("a name is taken while another input runs under it, and after the execution has ended", async () => {
  const { engine } = testEngine(answers(DONE));
  engine.start(MACHINE, "first", '{"name":"uk","turn":0}');

  const whileRunning = codeOf(() => engine.start(MACHINE, "first", '{"name":"us","turn":0}'));
  await engine.idle();
  const afterwards = codeOf(() => engine.start(MACHINE, "first", '{"name":"uk","turn":0}'));

  expect([whileRunning, afterwards]).toEqual(["ExecutionAlreadyExists", "ExecutionAlreadyExists"]);
});

it("only the own state machine and known executions are there", () => {
  const { engine } = testEngine(answers(DONE));

  expect(codeOf(() => engine.start(`${MACHINE}2`, "first", "{}"))).toBe("StateMachineDoesNotExist");
  expect(codeOf(() => engine.describe(FIRST))).toBe("ExecutionDoesNotExist");
});

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
  const { engine, changes } = testEngine(answers(failed("BROKEN"), ok({ done: true, seconds: 0, turn: 1 })));
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
