// An account with two published snapshots and a held one.

import { SmallWorld } from "./small-world.ts";

export interface HeldWorld {
  readonly world: SmallWorld;
  readonly first: string;
  readonly second: string;
  readonly held: string;
}

/** Two published snapshots of ten events, then a held one of five. */
export async function heldWorld(): Promise<HeldWorld> {
  const world = new SmallWorld();
  const snapshots: string[] = [];
  for (const [count, version] of [
    [10, 1],
    [10, 2],
    [5, 3],
  ] as const) {
    world.show(count, version);
    snapshots.push((await world.run()).row.snapshot_id ?? "");
  }
  const [first = "", second = "", held = ""] = snapshots;
  return { world, first, second, held };
}
