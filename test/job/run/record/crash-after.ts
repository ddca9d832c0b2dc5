// A run whose process crashes right after one of its effects.

import { expect } from "vitest";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { CrashPoint } from "../crash.ts";
import { ACCOUNT, type SmallWorld } from "../small-world.ts";

/** Lets a run crash just after its publication exists, and returns its id. */
export async function crashAfterPublishing(world: SmallWorld, runId?: string): Promise<string> {
  return crashAfter("create publications/", world, runId === undefined ? {} : { runId });
}

export async function crashAfter(
  effect: string,
  world: SmallWorld,
  start: Parameters<SmallWorld["run"]>[0] = {},
): Promise<string> {
  const ports = world.ports();
  const point = new CrashPoint(effect, "after");
  await expect(world.run(start, { ...ports, ...point.wrap(ports) })).rejects.toThrow("the process");
  world.dead.add(ports.process.pid ?? 0);
  return world.store.keys(layout(ACCOUNT).runs).at(-1)?.split("/")[2] ?? "";
}
