// The interpreter does what the emulator's does on the same state machines, and answers calls in the same form.

import { afterAll, beforeAll, expect, test } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import { bothEngines } from "./both-engines.ts";
import type { TaskResult } from "./execution.ts";
import { answers, DONE, definition, failed, ok, RETRY, testEngine } from "./machine.ts";
import { MotoEngine } from "./moto-engine.ts";
import type { StatesEngine } from "./states-engine.ts";
import { statesResponse } from "./states-response.ts";

const INPUT = '{"name":"uk","turn":0}';
const turn = (seconds: number, number: number): TaskResult => ok({ done: false, seconds, turn: number });
const busy = (count: number): readonly TaskResult[] => Array.from({ length: count }, () => failed("BUSY"));

/** With all states that the interpreter has. */
const MACHINES = {
  turns: definition(),
  jitter: definition({ task: { Retry: [{ ...RETRY, JitterStrategy: "FULL" }] } }),
  plain: definition({ task: { Parameters: undefined, Retry: undefined } }),
  failing: { StartAt: "No", States: { No: { Type: "Fail", Error: "NO", Cause: "it never works" } } },
};

onEmulator("the interpreter and the emulator", () => {
  let moto: MotoEngine;
  const arns = new Map<string, string>();

  beforeAll(async () => {
    moto = await MotoEngine.start();
    for (const [name, machine] of Object.entries(MACHINES)) arns.set(name, await moto.create(name, machine));
  });

  afterAll(() => moto?.[Symbol.asyncDispose]());

  test.each<readonly [string, keyof typeof MACHINES, readonly [TaskResult, ...TaskResult[]]]>([
    ["one turn", "turns", [DONE]],
    ["several turns", "turns", [turn(3, 1), turn(0, 2), turn(3600, 3), DONE]],
    ["a retry in each of two turns", "turns", [failed("BUSY"), turn(1, 1), failed("BUSY"), DONE]],
    ["all retries in each of two turns", "turns", [failed("BUSY"), ...busy(5), turn(1, 1), ...busy(6), DONE]],
    ["retries with half of the full jitter", "jitter", [failed("BUSY"), failed("BUSY"), DONE]],
    ["more failures than retries", "turns", [failed("BUSY")]],
    ["an error without a retry", "turns", [turn(1, 1), failed("BROKEN")]],
    ["the input as it is", "plain", [DONE]],
    ["a state that fails", "failing", [DONE]],
  ])("agree on %s: calls, waits, history and end", async (name, machine, results) => {
    const { interpreter, emulator } = await bothEngines(moto, {
      stateMachineArn: arns.get(machine) ?? "",
      definition: MACHINES[machine],
      name: name.replaceAll(" ", "-"),
      input: INPUT,
      results,
    });

    expect(interpreter).toEqual(emulator);
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
