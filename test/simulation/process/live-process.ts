// One process from its start to its end: it ends by itself, or is killed.

import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Start } from "../plan/plan.ts";
import type { World } from "../world.ts";
import type { Ended } from "./do-command.ts";
import { functionHost, laptopHost } from "./host.ts";
import { processPorts } from "./process-ports.ts";
import { SimProcess } from "./sim-process.ts";

export interface Lived {
  readonly world: World;
  readonly name: string;
  /** Whose faults and clock it has. */
  readonly start: Start;
  /** Its number among the processes of this start; undefined: nothing goes wrong in it. */
  readonly attempt: number | undefined;
  /** The id of the request that the platform repeats. */
  readonly requestId: string;
  /** Never rejects. */
  readonly work: (ports: RunPorts) => Promise<Ended>;
  readonly what: string;
}

/** Nothing of the job lasts longer; what does, never ends. */
const PATIENCE_MS = 12 * 60 * 60_000;

/** `onEnd` is called once, without an end for a process that was killed. */
export function liveProcess(lived: Lived, onEnd: (ended: Ended | undefined) => void): void {
  const { world, name, start, attempt, requestId } = lived;
  const { timeline, story, model, plan } = world;
  const process = new SimProcess({
    name,
    seed: plan.seed,
    timeline,
    story,
    faults: attempt === undefined ? [] : world.faultsOf(start.id, attempt),
    hasFaults: () => world.hasFaults,
    latencyMs: plan.setting.latencyMs,
  });
  const nth = world.enter(process);
  const { timeLimitMs } = plan.setting;
  const host =
    start.by === "laptop"
      ? laptopHost(nth, (pid) => world.processes[pid]?.isDead ?? false)
      : functionHost(process, timeline, {
          timeLimitMs,
          requestId,
          executions: world.executions?.seenBy(process, start),
        });
  const ports = processPorts({
    world,
    process,
    nth,
    settings: world.settings,
    clockFault: world.clockFaultOf(start.id),
    host,
    onRunId: (id) => model.onRunId(name, id),
  });
  model.onStart(name, start);
  story.tell(name, `starts: ${start.by} ${lived.what}`);

  let isOver = false;
  const finish = (ended: Ended | undefined): void => {
    if (isOver) return;
    isOver = true;
    process.end();
    model.onEnd(name, ended);
    onEnd(ended);
  };
  process.whenDead(() => finish(undefined));
  timeline.at(timeline.nowMs + PATIENCE_MS, () => {
    if (!isOver) model.fail(`${name} does not end within ${PATIENCE_MS / 3_600_000} hours`);
  });
  void lived.work(ports).then((ended) => {
    story.tell(name, `ends: ${ended.text}`);
    finish(ended);
  });
}
