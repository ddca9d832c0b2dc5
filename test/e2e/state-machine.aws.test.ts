// The state machine of the stack on the emulator: it runs there as in the interpreter, which the end-to-end tests use.

import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { onEmulator } from "../aws/emulator.ts";
import { bothEngines } from "../states/both-engines.ts";
import type { TaskResult } from "../states/execution.ts";
import { failed, ok } from "../states/machine.ts";
import { MotoEngine } from "../states/moto-engine.ts";
import { synthTemplate } from "./synth.ts";

const SETTINGS = { baseUrl: "https://service.example", accounts: { uk: { schedule: "rate(1 day)" } } };
const ALIAS = "arn:aws:lambda:eu-west-1:123456789012:function:sync:live";
const INPUT = '{"account":"uk","runId":"2026-11-21T06-00-00.000Z","turn":0}';
const turn = (waitSeconds: number, number: number): TaskResult =>
  ok({ done: false, waitSeconds, turn: number });
const END = ok({ done: true, waitSeconds: 0, turn: 3 });

onEmulator("the state machine of the stack", () => {
  let definition: unknown;
  let moto: MotoEngine;
  let stateMachineArn = "";

  beforeAll(async () => {
    const template = await synthTemplate(SETTINGS);
    template.made(template.one("AWS::Lambda::Alias").id, { ref: ALIAS });
    const { DefinitionString } = template.one("AWS::StepFunctions::StateMachine").properties;
    definition = JSON.parse(z.string().parse(template.resolve(DefinitionString)));
    moto = await MotoEngine.start();
    stateMachineArn = await moto.create("stack", definition);
  }, 120_000);

  afterAll(() => moto?.[Symbol.asyncDispose]());

  test.each<readonly [string, string, readonly [TaskResult, ...TaskResult[]]]>([
    ["over several turns", "SUCCEEDED", [turn(90, 1), turn(0, 2), END]],
    [
      "with errors that pass",
      "SUCCEEDED",
      [
        failed("SERVICE_UNAVAILABLE"),
        turn(3_600, 1),
        failed("Runtime.ExitError"),
        failed("Lambda.TooManyRequestsException"),
        END,
      ],
    ],
    ["with an error that stays", "FAILED", [turn(1, 1), failed("Sandbox.Timedout")]],
    ["with an error that no retry fixes", "FAILED", [failed("NOT_ENTITLED")]],
  ])("runs %s as in the interpreter: calls, waits, history and end", async (name, status, results) => {
    const { interpreter, emulator } = await bothEngines(moto, {
      stateMachineArn,
      definition,
      name: name.replaceAll(" ", "-"),
      input: INPUT,
      results,
    });

    expect(interpreter).toEqual(emulator);
    expect(interpreter.status).toBe(status);
  });
});
