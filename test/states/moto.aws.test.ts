// The interpreter does what the emulator's does on the same state machines, and answers calls in the same form.

import { afterAll, beforeAll, expect, test } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import type { TaskResult } from "./execution.ts";
import { answers, DONE, definition, failed, MACHINE, ok, testEngine } from "./machine.ts";
import { MotoEngine } from "./moto-engine.ts";
import type { StatesEngine } from "./states-engine.ts";
import { statesResponse } from "./states-response.ts";

const INPUT = '{"name":"uk","turn":0}';
const turn = (seconds: number, number: number): TaskResult => ok({ done: false, seconds, turn: number });
const busy = (count: number): readonly TaskResult[] => Array.from({ length: count }, () => failed("BUSY"));

/** States that the interpreter has, and no retries with jitter: those of the emulator are random. */
const MACHINES = {
  turns: definition(),
  plain: definition({ task: { Parameters: undefined, Retry: undefined } }),
  failing: { StartAt: "No", States: { No: { Type: "Fail", Error: "NO", Cause: "it never works" } } },
};

onEmulator("the interpreter and the emulator", () => {
  let moto: MotoEngine;
  const arns = new Map<string, string>();

  beforeAll(async () => {
    moto = await MotoEngine.start();
    for (const [name, machine] of Object.entries(MACHINES)) arns.set(name, await moto.create(name, machine));
  }, 60_000);

  afterAll(() => moto?.[Symbol.asyncDispose]());

  test.each<readonly [string, keyof typeof MACHINES, readonly [TaskResult, ...TaskResult[]]]>([
    ["one turn", "turns", [DONE]],
    ["several turns", "turns", [turn(3, 1), turn(0, 2), turn(3600, 3), DONE]],
    ["a retry in each of two turns", "turns", [failed("BUSY"), turn(1, 1), failed("BUSY"), DONE]],
    ["all retries in each of two turns", "turns", [failed("BUSY"), ...busy(5), turn(1, 1), ...busy(6), DONE]],
    ["more failures than retries", "turns", [failed("BUSY")]],
    ["an error without a retry", "turns", [turn(1, 1), failed("BROKEN")]],
    ["the input as it is", "plain", [DONE]],
    ["a state that fails", "failing", [DONE]],
  ])("agree on %s: calls, waits, history and end", async (name, machine, results) => {
    const { engine, clock, payloads } = testEngine(answers(...results), MACHINES[machine]);
    const ours = engine.start(MACHINE, "first", INPUT);
    await engine.idle();

    const { executionArn, described } = await moto.run(
      arns.get(machine) ?? "",
      name.replaceAll(" ", "-"),
      INPUT,
      answers(...results),
    );

    const withoutArn = moto.payloads.map((payload) =>
      JSON.parse(JSON.stringify(payload).replaceAll(executionArn, ours.start.arn)),
    );
    expect(withoutArn).toEqual(payloads);
    expect(moto.waitsMs.filter((ms) => ms > 0)).toEqual(clock.waitsMs.filter((ms) => ms > 0));
    expect(await moto.history(executionArn)).toEqual(ours.history.map(({ type }) => type));
    expect(described.status).toBe(ours.status);
    expect(JSON.parse(described.output ?? "null")).toEqual(ours.output ?? null);
    expect(described["error"]).toBe(ours.error);
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
    const working = Promise.withResolvers<void>();

    const theirs = moto.run(stateMachineArn, "answered", INPUT, () => working.promise.then(() => DONE));
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
