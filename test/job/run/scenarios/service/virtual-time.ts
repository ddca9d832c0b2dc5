// Time that passes only while a run has nothing else to do, so that no test depends on the speed of the machine.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ManualClock } from "../../../../simulator/manual-clock.ts";
import type { Simulator } from "../../../../simulator/simulator.ts";

/** Client and simulator share one event loop: after so many turns without a request or a response both are idle. */
const IDLE_TURNS = 30;
const STEP_MS = 500;
/** A run that holds its lease always sleeps until the next renewal. */
const RENEWALS = 1;

/**
 * Moves the clock until the work ends, but only while something waits for the clock beside `renewals` leases. So
 * requests, compression and storage take no time.
 */
export async function inVirtualTime<T>(
  clock: ManualClock,
  simulator: Simulator,
  work: Promise<T>,
  renewals = RENEWALS,
): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined); // reported by the return below
  let before = traffic(simulator);
  for (let turns = 0; !isDone; turns += 1) {
    await nextTurn();
    const now = traffic(simulator);
    if (now !== before) turns = 0;
    before = now;
    if (turns < IDLE_TURNS || clock.sleeping <= renewals) continue;
    clock.advance(STEP_MS);
    turns = 0;
  }
  return ended;
}

function traffic({ requests }: Simulator): number {
  return requests.length + requests.filter(({ answeredAtMs }) => answeredAtMs !== undefined).length;
}
