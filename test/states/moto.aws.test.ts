// The interpreter does what the emulator's does on the same state machines, of which one is that of the stack, and answers
// calls in the same form.

import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { onEmulator } from "../aws/emulator.ts";
import { synthTemplate } from "../e2e/template.ts";
import type { TaskResult } from "./execution.ts";
import { answers, DONE, definition, FUNCTION, failed, MACHINE, ok, RETRY, testEngine } from "./machine.ts";
import { MotoEngine } from "./moto-engine.ts";
import { type StatesEngine, statesResponse } from "./states-engine.ts";

const INPUT = '{"name":"uk","account":"uk","runId":"2026-11-21T06-00-00.000Z","turn":0}';
const SETTINGS = { baseUrl: "https://service.example", accounts: { uk: { schedule: "rate(1 day)" } } };
const turn = (seconds: number, number: number): TaskResult =>
  ok({ done: false, seconds, waitSeconds: seconds, turn: number });
const busy = (count: number): readonly TaskResult[] => Array.from({ length: count }, () => failed("BUSY"));

/** With all states that the interpreter has. */
const MACHINES = {
  turns: definition(),
  jitter: definition({ task: { Retry: [{ ...RETRY, JitterStrategy: "FULL" }] } }),
  plain: definition({ task: { Parameters: undefined, Retry: undefined } }),
  failing: { StartAt: "No", States: { No: { Type: "Fail", Error: "NO", Cause: "it never works" } } },
};

/** The one that the end-to-end tests run. */
async function machineOfStack(): Promise<unknown> {
  const template = await synthTemplate(SETTINGS);
  template.made(template.one("AWS::Lambda::Alias").id, { ref: FUNCTION });
  const { DefinitionString } = template.one("AWS::StepFunctions::StateMachine").properties;
  return JSON.parse(z.string().parse(template.resolve(DefinitionString)));
}

onEmulator("the interpreter and the emulator", () => {
  let moto: MotoEngine;
  let machines: Readonly<Record<keyof typeof MACHINES | "stack", unknown>>;
  const arns = new Map<string, string>();

  beforeAll(async () => {
    machines = { ...MACHINES, stack: await machineOfStack() };
    moto = await MotoEngine.start();
    for (const [name, machine] of Object.entries(machines)) arns.set(name, await moto.create(name, machine));
  }, 120_000);

  afterAll(() => moto?.[Symbol.asyncDispose]());

  test.each<
    readonly [string, keyof typeof machines, "SUCCEEDED" | "FAILED", readonly [TaskResult, ...TaskResult[]]]
  >([
    ["one turn", "turns", "SUCCEEDED", [DONE]],
    ["several turns", "turns", "SUCCEEDED", [turn(3, 1), turn(0, 2), turn(3600, 3), DONE]],
    [
      "a retry in each of two turns",
      "turns",
      "SUCCEEDED",
      [failed("BUSY"), turn(1, 1), failed("BUSY"), DONE],
    ],
    [
      "all retries in each of two turns",
      "turns",
      "SUCCEEDED",
      [failed("BUSY"), ...busy(5), turn(1, 1), ...busy(6), DONE],
    ],
    ["retries with half of the full jitter", "jitter", "SUCCEEDED", [failed("BUSY"), failed("BUSY"), DONE]],
    ["more failures than retries", "turns", "FAILED", [failed("BUSY")]],
    ["an error without a retry", "turns", "FAILED", [turn(1, 1), failed("BROKEN")]],
    ["the input as it is", "plain", "SUCCEEDED", [DONE]],
    ["a state that fails", "failing", "FAILED", [DONE]],
    ["several turns of the stack", "stack", "SUCCEEDED", [turn(90, 1), turn(0, 2), DONE]],
    [
      "errors that pass in the stack",
      "stack",
      "SUCCEEDED",
      [
        failed("SERVICE_UNAVAILABLE"),
        turn(3_600, 1),
        failed("Runtime.ExitError"),
        failed("Lambda.TooManyRequestsException"),
        DONE,
      ],
    ],
    ["an error that stays in the stack", "stack", "FAILED", [turn(1, 1), failed("Sandbox.Timedout")]],
    ["an error of the stack that no retry fixes", "stack", "FAILED", [failed("NOT_ENTITLED")]],
  ])("agree on %s: calls, waits, history and end", async (name, machine, status, results) => {
    const { engine, clock, payloads } = testEngine(answers(...results), machines[machine]);
    const ours = engine.start(MACHINE, "first", INPUT);
    await engine.idle();

    const arn = arns.get(machine) ?? "";
    const { executionArn, described } = await moto.run(
      arn,
      name.replaceAll(" ", "-"),
      INPUT,
      answers(...results),
    );

    const { output = "null", ...ended } = described;
    // The emulator does not always make a wait of no length.
    const waits = (all: readonly number[]): readonly number[] => all.filter((ms) => ms > 0);
    expect({
      payloads,
      waitsMs: waits(clock.waitsMs),
      history: ours.history.map(({ type }) => type),
      status: ours.status,
      output: ours.output ?? null,
      error: ours.error,
    }).toEqual({
      payloads: JSON.parse(JSON.stringify(moto.payloads).replaceAll(executionArn, ours.start.arn)),
      waitsMs: waits(moto.waitsMs),
      history: await moto.history(executionArn),
      status: ended.status,
      output: JSON.parse(output),
      error: ended["error"],
    });
    expect(ours.status).toBe(status);
  });

  test("agree on the form of each answer, and on the codes of refused calls", async () => {
    const ours = testEngine(answers(DONE)).engine;
    const stateMachineArn = arns.get("turns") ?? "";
    const start = { name: "answered", input: INPUT };
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:answered`;
    const calls: readonly (readonly [string, object])[] = [
      ["StartExecution", { stateMachineArn, ...start }],
      ["StartExecution", { stateMachineArn, ...start }],
      ["StartExecution", { stateMachineArn, ...start, input: "{}" }],
      ["DescribeExecution", { executionArn }],
      ["DescribeExecution", { executionArn: `${executionArn}2` }],
      ["StartExecution", { stateMachineArn: `${stateMachineArn}2`, ...start }],
    ];
    const called = Promise.withResolvers<void>();
    const working = Promise.withResolvers<void>();
    const work = (): Promise<TaskResult> => {
      called.resolve();
      return working.promise.then(() => DONE);
    };

    const theirs = moto.run(stateMachineArn, "answered", INPUT, work);
    await called.promise;
    const whileRunning = await Promise.all(calls.map(([operation, input]) => moto.call(operation, input)));
    working.resolve();
    await theirs;
    const ended = await Promise.all(calls.map(([operation, input]) => moto.call(operation, input)));

    expect(whileRunning.map(formOf)).toMatchObject(answerAll(ours, calls).map(formOf));
    await ours.idle();
    expect(ended.map(formOf)).toMatchObject(answerAll(ours, calls).map(formOf));
  });
});

function answerAll(engine: StatesEngine, calls: readonly (readonly [string, object])[]): readonly unknown[] {
  return calls.map(([operation, input]) => {
    const asked = { method: "POST", url: "/", action: `AWSStepFunctions.${operation}`, index: 0 };
    const text = JSON.stringify(input).replaceAll(/(stateMachine|execution):turns/g, "$1:machine");
    const answer = statesResponse(engine, asked, { headers: {}, body: Buffer.from(text) });
    return JSON.parse(typeof answer === "object" ? answer.body : "null");
  });
}

/** The keys of an answer with the kinds of their values; of a refused call the code alone. */
function formOf(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) return typeof answer;
  const code = "__type" in answer ? String(answer.__type).split("#").at(-1) : undefined;
  if (code !== undefined) return code;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, formOf(value)]));
}
