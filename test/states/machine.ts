// A state machine for tests of the interpreter, and an engine for it whose function does what a test says.

import type { TaskResult } from "./execution.ts";
import { SkippingClock, StatesEngine, type StatusChange } from "./states-engine.ts";

export const FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:work:live";
export const MACHINE = "arn:aws:states:eu-west-1:123456789012:stateMachine:machine";

export const RETRY = {
  ErrorEquals: ["BUSY", "States.Timeout"],
  IntervalSeconds: 60,
  BackoffRate: 2,
  MaxDelaySeconds: 900,
  MaxAttempts: 6,
};

/** Works until the function answers that it is done, and waits between. */
export function definition({
  task = {},
  ...more
}: {
  readonly task?: object;
  readonly [key: string]: unknown;
} = {}) {
  return {
    StartAt: "Work",
    States: {
      Work: {
        Type: "Task",
        Resource: FUNCTION,
        Parameters: {
          kind: "work",
          "name.$": "$$.Execution.Input.name",
          "execution.$": "$$.Execution.Id",
          "turn.$": "$.turn",
        },
        TimeoutSeconds: 960,
        Retry: [RETRY],
        Next: "Done?",
        ...task,
      },
      "Done?": {
        Type: "Choice",
        Choices: [{ Variable: "$.done", BooleanEquals: true, Next: "End" }],
        Default: "Wait",
      },
      Wait: { Type: "Wait", SecondsPath: "$.seconds", Next: "Work" },
      End: { Type: "Succeed" },
    },
    ...more,
  };
}

export type Work = (payload: unknown) => TaskResult | Promise<TaskResult>;

/** Answers one after the other; the last one again and again. */
export function answers(...results: readonly [TaskResult, ...TaskResult[]]): Work {
  const left = [...results];
  const [only] = results;
  let last = only;
  return () => {
    last = left.shift() ?? last;
    return last;
  };
}

export const ok = (payload: unknown): TaskResult => ({ ok: true, payload });
export const failed = (error: string): TaskResult => ({ ok: false, error, cause: `it is ${error}` });
export const DONE = ok({ done: true, seconds: 0, turn: 9 });

export interface TestEngine {
  readonly engine: StatesEngine;
  readonly clock: SkippingClock;
  /** What the function was called with. */
  readonly payloads: unknown[];
  readonly changes: StatusChange[];
}

/** @param random between 0 and 1, for jitter. */
export function testEngine(work: Work, machine: unknown = definition(), random = 0.5): TestEngine {
  const clock = new SkippingClock(Date.UTC(2026, 10, 21, 6));
  const payloads: unknown[] = [];
  const changes: StatusChange[] = [];
  const engine = new StatesEngine({
    stateMachineArn: MACHINE,
    definition: machine,
    clock,
    random: () => random,
    invoke: async (_, payload) => {
      payloads.push(payload);
      return work(payload);
    },
    onChange: (change) => changes.push(change),
  });
  return { engine, clock, payloads, changes };
}
