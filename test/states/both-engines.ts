// The same execution in the interpreter and on the emulator, in one form.

import type { TaskResult } from "./execution.ts";
import { answers, MACHINE, testEngine } from "./machine.ts";
import type { MotoEngine } from "./moto-engine.ts";

interface Seen {
  readonly payloads: readonly unknown[];
  /** Without those of no length, which the emulator does not always make. */
  readonly waitsMs: readonly number[];
  readonly history: readonly string[];
  readonly status: string;
  readonly output: unknown;
  readonly error: unknown;
}

export interface SameExecution {
  /** Of the emulator. */
  readonly stateMachineArn: string;
  readonly definition: unknown;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  /** What the function answers. */
  readonly results: readonly [TaskResult, ...TaskResult[]];
}

export async function bothEngines(
  moto: MotoEngine,
  { stateMachineArn, definition, name, input, results }: SameExecution,
): Promise<{ readonly interpreter: Seen; readonly emulator: Seen }> {
  const { engine, clock, payloads } = testEngine(answers(...results), definition);
  const ours = engine.start(MACHINE, "first", input);
  await engine.idle();
  const { executionArn, described } = await moto.run(stateMachineArn, name, input, answers(...results));
  const { status, output = "null", error } = described;
  return {
    interpreter: {
      payloads,
      waitsMs: clock.waitsMs.filter((ms) => ms > 0),
      history: ours.history.map(({ type }) => type),
      status: ours.status,
      output: ours.output ?? null,
      error: ours.error,
    },
    emulator: {
      payloads: JSON.parse(JSON.stringify(moto.payloads).replaceAll(executionArn, ours.start.arn)),
      waitsMs: moto.waitsMs.filter((ms) => ms > 0),
      history: await moto.history(executionArn),
      status,
      output: JSON.parse(output),
      error,
    },
  };
}
