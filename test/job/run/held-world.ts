// Accounts with published snapshots and a held one.

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

export type DueWorld = Omit<HeldWorld, "second">;

/** One snapshot published, a smaller one held, and the service has something new again. */
export async function dueWorld(): Promise<DueWorld> {
  const world = new SmallWorld();
  world.show(10, 1);
  const first = (await world.run()).row.snapshot_id ?? "";
  world.show(5, 2);
  const held = (await world.run()).row.snapshot_id ?? "";
  world.show(9, 3);
  return { world, first, held };
}
