// Time that passes only while a run has nothing else to do, so that no test depends on the speed of the machine.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ManualClock } from "../../../../simulator/manual-clock.ts";
import type { Simulator } from "../../../../simulator/simulator.ts";

/** Client and simulator share one event loop: after so many turns without a request or a response both are idle. */
const IDLE_TURNS = 30;
/** A request that is still on its way then sees time pass; the longer nothing happens, the surer it is that none is. */
const STEP_MS = 500;
/** A run that holds its lease always sleeps until the next renewal. */
const RENEWALS = 1;

/**
 * Moves the clock until the work ends, but only while something waits for the clock beside `renewals` leases. So
 * requests, compression and storage take no time.
 */
export async function inVirtualTime<T>(
  clock: ManualClock,
  simulator: Pick<Simulator, "requests">,
  work: Promise<T>,
  renewals = RENEWALS,
): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined); // reported by the return below
  let before = traffic(simulator);
  let stepMs = STEP_MS;
  for (let turns = 0; !isDone; turns += 1) {
    await nextTurn();
    const now = traffic(simulator);
    if (now !== before) {
      turns = 0;
      stepMs = STEP_MS;
    }
    before = now;
    if (turns < IDLE_TURNS || clock.sleeping <= renewals) continue;
    clock.advance(Math.max(1, Math.min(stepMs, (clock.nextDueMs ?? 0) - clock.monotonicMs())));
    turns = 0;
    stepMs *= 2;
  }
  return ended;
}

function traffic({ requests }: Pick<Simulator, "requests">): number {
  return requests.length + requests.filter(({ answeredAtMs }) => answeredAtMs !== undefined).length;
}
