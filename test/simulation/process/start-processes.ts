// What a start of the plan becomes: one process on a laptop, or the invocations of the function with its retries.

import { formatRunId } from "../../../lambdas/job/storage/run-id.ts";
import type { Start } from "../plan/plan.ts";
import type { World } from "../world.ts";
import { doCommand, type Ended } from "./do-command.ts";
import { functionHost, laptopHost } from "./host.ts";
import { processPorts } from "./process-ports.ts";
import { SimProcess } from "./sim-process.ts";

/** Lambda's own waits before it starts a failed invocation again. */
const RETRIES_AFTER_MS = [60_000, 120_000];
/** Nothing of the job lasts longer; what does, never ends. */
const PATIENCE_MS = 12 * 60 * 60_000;

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
  startAttempt(world, { start, runId, delivery: "", attempt: 0 }, end);
  if (start.againAfterMs === undefined) return;
  open += 1;
  timeline.at(timeline.nowMs + start.againAfterMs, () =>
    startAttempt(world, { start, runId, delivery: "-again", attempt: 0 }, end),
  );
}

interface Attempt {
  readonly start: Start;
  readonly runId: string | undefined;
  readonly delivery: string;
  readonly attempt: number;
}

function startAttempt(world: World, tried: Attempt, onEnd: (ended: Ended | undefined) => void): void {
  const { start, runId, delivery, attempt } = tried;
  const { timeline, story, model, plan } = world;
  const process = new SimProcess({
    name: `${start.id}${delivery}${attempt === 0 ? "" : `.${attempt + 1}`}`,
    seed: plan.seed,
    timeline,
    story,
    faults: delivery === "" ? world.faultsOf(start.id, attempt) : [],
    hasFaults: () => world.hasFaults,
    latencyMs: plan.setting.latencyMs,
  });
  const nth = world.enter(process);
  const host =
    start.by === "laptop"
      ? laptopHost(nth, (pid) => world.processes[pid]?.isDead ?? false)
      : functionHost(process, timeline, {
          timeLimitMs: plan.setting.timeLimitMs,
          requestId: `${start.id}${delivery}`,
        });
  const ports = processPorts({
    world,
    process,
    nth,
    settings: world.settings,
    clockFault: world.clockFaultOf(start.id),
    host,
    onRunId: (id) => model.onRunId(process.name, id),
  });
  model.onStart(process.name, start);
  story.tell(process.name, `starts: ${describe(start)}`);

  let isOver = false;
  const finish = (ended: Ended | undefined): void => {
    if (isOver) return;
    isOver = true;
    process.end();
    model.onEnd(process.name, ended);
    const waitMs = start.by !== "laptop" && shouldRetry(ended) ? RETRIES_AFTER_MS[attempt] : undefined;
    if (waitMs === undefined) {
      onEnd(ended);
      return;
    }
    timeline.at(timeline.nowMs + waitMs, () =>
      startAttempt(world, { ...tried, attempt: attempt + 1 }, onEnd),
    );
  };
  process.whenDead(() => finish(undefined));
  timeline.at(timeline.nowMs + PATIENCE_MS, () => {
    if (!isOver) model.fail(`${process.name} does not end within ${PATIENCE_MS / 3_600_000} hours`);
  });
  void doCommand(world, ports, start.command, runId).then((ended) => {
    story.tell(process.name, `ends: ${ended.text}`);
    finish(ended);
  });
}

/** The function throws for a run that failed, and Lambda starts it again. */
function shouldRetry(ended: Ended | undefined): boolean {
  return ended === undefined || ended.isFailure;
}

function describe({ by, command }: Start): string {
  return `${by} ${JSON.stringify(command).replaceAll('"', "")}`;
}
