// Lives one plan to its end, stops the faults, and asks for one ordinary run.

import type { Coverage } from "./coverage.ts";
import { healAndRun } from "./heal-and-run.ts";
import type { Plan } from "./plan/plan.ts";
import { World } from "./world.ts";

export interface History {
  readonly plan: Plan;
  /** The first promise that was broken. */
  readonly violation: string | undefined;
  readonly story: readonly string[];
  readonly digest: string;
  readonly coverage: Coverage;
  readonly processes: number;
  readonly calls: number;
  /** Of virtual time. */
  readonly hours: number;
}

export async function simulate(plan: Plan): Promise<History> {
  const world = new World(plan);
  const { story, timeline } = world;
  const beganMs = timeline.nowMs;
  if (!(await world.live())) world.fail("something waits for ever");
  if (world.violation === undefined) await healAndRun(world);
  return {
    plan,
    violation: world.violation,
    story: story.lines,
    digest: story.digest(),
    coverage: world.coverage,
    processes: world.processes.length,
    calls: world.processes.reduce((sum, { calls }) => sum + calls, 0),
    hours: (timeline.nowMs - beganMs) / 3_600_000,
  };
}
