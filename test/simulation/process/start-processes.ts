// What a start of the plan becomes: one process on a laptop, or the invocations of the function with its retries.

import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import { formatRunId } from "../../../lambdas/job/storage/layout.ts";
import type { Account } from "../account.ts";
import type { Start } from "../plan/plan.ts";
import type { Job } from "../versions/job.ts";
import type { World } from "../world.ts";
import { doCommand, type Ended } from "./do-command.ts";
import { liveProcess } from "./live-process.ts";

/** Lambda's own waits before it starts a failed invocation again. */
export const RETRIES_AFTER_MS = [60_000, 120_000];

/** `onEnd` is told how the last of them ended; a killed one has no end. */
export function startProcesses(world: World, start: Start, onEnd: (ended: Ended | undefined) => void): void {
  const { timeline } = world;
  const scheduledAtMs = Math.floor(timeline.nowMs / 60_000) * 60_000;
  const runId = start.by === "schedule" ? formatRunId(scheduledAtMs) : undefined;
  let open = 1;
  const end = (ended: Ended | undefined): void => {
    open -= 1;
    if (open === 0) onEnd(ended);
  };
  startAttempt(world, { start, runId, isAgain: false, attempt: 0 }, end);
  if (start.againAfterMs === undefined) return;
  open += 1;
  timeline.at(timeline.nowMs + start.againAfterMs, () =>
    startAttempt(world, { start, runId, isAgain: true, attempt: 0 }, end),
  );
}

interface Attempt {
  readonly start: Start;
  readonly runId: string | undefined;
  /** A second delivery of the same trigger: nothing goes wrong in it. */
  readonly isAgain: boolean;
  readonly attempt: number;
}

function startAttempt(world: World, tried: Attempt, onEnd: (ended: Ended | undefined) => void): void {
  const { start, runId, isAgain, attempt } = tried;
  const { timeline } = world;
  const delivery = `${start.id}${isAgain ? "-again" : ""}`;
  const lived = {
    world,
    accounts: world.accountsOf(start.account),
    name: attempt === 0 ? delivery : `${delivery}.${attempt + 1}`,
    start,
    attempt: isAgain ? undefined : attempt,
    requestId: delivery,
    work: (job: Job, account: Account, ports: RunPorts) =>
      doCommand(job, account, ports, start.command, runId),
    what: `${JSON.stringify(start.command).replaceAll('"', "")} for ${start.account}`,
  };
  liveProcess(lived, (ended) => {
    // The function throws for a run that failed, and Lambda starts it again.
    const isFailed = ended === undefined || ended.isFailure;
    const waitMs = start.by !== "laptop" && isFailed ? RETRIES_AFTER_MS[attempt] : undefined;
    if (waitMs === undefined) onEnd(ended);
    else
      timeline.at(timeline.nowMs + waitMs, () =>
        startAttempt(world, { ...tried, attempt: attempt + 1 }, onEnd),
      );
  });
}
