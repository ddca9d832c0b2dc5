// One turn of an execution: this invocation continues the run that was handed over.

import { plannedTrigger } from "../../snapshot/staging/plan.ts";
import type { RunResult } from "../record/run-result.ts";
import { run } from "../run.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { freeLease, readExecutionLease } from "./abandon-run.ts";

interface Turn {
  readonly runId: string;
  /** The ARN of the execution. */
  readonly execution: string;
  /** How many turns of it are over. */
  readonly turn: number;
  /** After so many another execution follows, because the history of an execution is limited. */
  readonly maxTurns: number;
}

export interface TurnEnd {
  readonly result: RunResult;
  /** True where this execution has nothing left to do: the run is finished, or works elsewhere. */
  readonly isDone: boolean;
  /** How long the execution should wait before its next turn. */
  readonly waitSeconds: number;
}

export async function continueRun(
  ports: RunPorts,
  settings: RunSettings,
  { runId, execution, turn, maxTurns }: Turn,
): Promise<TurnEnd> {
  const trigger = await plannedTrigger(ports.store, ports.store.keys.plan(runId));
  const own = { arn: execution, isLastTurn: turn + 1 >= maxTurns };
  const result = await run(ports, settings, { trigger, runId, execution: own });
  // The invocation before may have died between the outcome and the release of the lease.
  if (result.isRepeat) await freeLeaseOf(ports, settings, execution);
  const { handedOver } = result;
  if (handedOver?.execution !== execution) return { result, isDone: true, waitSeconds: 0 };
  return { result, isDone: false, waitSeconds: Math.ceil(handedOver.waitMs / 1_000) };
}

async function freeLeaseOf(ports: RunPorts, settings: RunSettings, execution: string): Promise<void> {
  for (;;) {
    const own = await readExecutionLease(ports, execution);
    if (own === undefined || (await freeLease(ports, settings, own))) return;
  }
}
