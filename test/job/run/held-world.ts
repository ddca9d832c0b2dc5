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
  const first = await world.publish(10, 1);
  const second = await world.publish(10, 2);
  const held = await world.hold(5, 3);
  return { world, first, second, held };
}

export type DueWorld = Omit<HeldWorld, "second">;

/** One snapshot published, a smaller one held, and the service has something new again. */
export async function dueWorld(): Promise<DueWorld> {
  const world = new SmallWorld();
  const first = await world.publish(10, 1);
  const held = await world.hold(5, 2);
  world.show(9, 3);
  return { world, first, held };
}
