// One process from its start to its end: it ends by itself, or is killed.

import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Account } from "../account.ts";
import { Chance } from "../chance.ts";
import type { Start } from "../plan/plan.ts";
import { ProcessClock } from "../time/process-clock.ts";
import type { Job } from "../versions/job.ts";
import { drawVersion, jobOf } from "../versions/versions.ts";
import type { World } from "../world.ts";
import type { Ended } from "./do-command.ts";
import { functionHost, laptopHost } from "./host.ts";
import { processPorts } from "./process-ports.ts";
import { SimProcess } from "./sim-process.ts";

export interface Lived {
  readonly world: World;
  /** It works for one after the other. */
  readonly accounts: readonly [Account, ...Account[]];
  readonly name: string;
  /** Whose faults and clock it has. */
  readonly start: Start;
  /** Its number among the processes of this start; undefined: nothing goes wrong in it. */
  readonly attempt: number | undefined;
  /** The id of the request that the platform repeats. */
  readonly requestId: string;
  /** Never rejects. */
  readonly work: (job: Job, account: Account, ports: RunPorts) => Promise<Ended>;
  readonly what: string;
}

/** Nothing of the job lasts longer; what does, never ends. */
const PATIENCE_MS = 12 * 60 * 60_000;

/** `onEnd` is called once with the end of the last account, without one for a process that was killed. */
export function liveProcess(lived: Lived, onEnd: (ended: Ended | undefined) => void): void {
  const { world, name, start, attempt, requestId } = lived;
  const { timeline, story, plan } = world;
  const version = drawVersion(world, name, start);
  const process = new SimProcess({
    name,
    job: jobOf(version),
    seed: plan.seed,
    timeline,
    story,
    faults: attempt === undefined ? [] : world.faultsOf(start.id, attempt),
    hasFaults: () => world.hasFaults,
    latencyMs: plan.setting.latencyMs,
    coverage: world.coverage,
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
  const clock = new ProcessClock(timeline, process, world.clockFaultOf(start.id));
  const chance = new Chance(plan.seed, `random of ${name}`);
  let [account] = lived.accounts;
  const begin = (next: Account): void => {
    account = next;
    account.model.onStart(name, start, version);
  };
  begin(account);
  const by = version === "today" ? start.by : `${start.by} ${version}`;
  story.tell(name, `starts: ${by} ${lived.what}`);

  let isOver = false;
  const finish = (ended: Ended | undefined): void => {
    if (isOver) return;
    isOver = true;
    process.end();
    account.model.onEnd(name, ended);
    onEnd(ended);
  };
  process.whenDead(() => finish(undefined));
  timeline.at(timeline.nowMs + PATIENCE_MS, () => {
    if (!isOver) world.fail(`${name} does not end within ${PATIENCE_MS / 3_600_000} hours`);
  });
  const workFor = async ([next, ...others]: readonly Account[]): Promise<void> => {
    if (next === undefined) return;
    if (next !== account) begin(next);
    const ended = await lived.work(
      process.job,
      next,
      processPorts({ world, account: next, process, nth, clock, chance, host }),
    );
    story.tell(name, `ends: ${ended.text}`);
    if (others.length === 0) return finish(ended);
    next.model.onEnd(name, ended);
    return workFor(others);
  };
  void workFor(lived.accounts);
}
