// A sandbox whose service counts requests, and whose clock moves only while a run waits for it.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunResult } from "../../../../../lambdas/job/run/record/run-result.ts";
import type { RunStart } from "../../../../../lambdas/job/run/run.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { ManualClock } from "../../../../simulator/manual-clock.ts";
import type { SimulatorOptions } from "../../../../simulator/settings.ts";
import type { Simulator } from "../../../../simulator/simulator.ts";
import { Crashed, CrashPoint, type Moment } from "../../crash.ts";
import { Sandbox } from "../../sandbox.ts";
import type { PortChanges } from "../../small-world.ts";

export const WINDOW_MS = 30_000;
/** Of a window. Runs and service agree on it. */
export const LIMIT = 40;
export const PER_MINUTE = 80;
/** 90 % of the limit. */
export const ALLOWED = 36;

/** A sandbox whose clock moves only while a run waits for it. */
export class LimitedWorld implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly sandbox: Sandbox;

  private constructor(clock: ManualClock, sandbox: Sandbox) {
    this.clock = clock;
    this.sandbox = sandbox;
  }

  static async start(
    service: SimulatorOptions = {},
    settings: Partial<RunSettings> = { requestsPerMinute: PER_MINUTE },
  ): Promise<LimitedWorld> {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const limits = { requestsPerWindow: LIMIT, windowMs: WINDOW_MS };
    const sandbox = await Sandbox.start(
      { clock, limits, ...service },
      { windowMs: WINDOW_MS, ...settings },
      clock,
    );
    return new LimitedWorld(clock, sandbox);
  }

  /** No two starts share an instant: the second one would be the same run. */
  run(start: Partial<RunStart> = {}, changes: PortChanges = {}): Promise<RunResult> {
    this.clock.advance(1);
    return this.wait(this.sandbox.run(start, changes));
  }

  /** A run in a process that is known to be gone: it dies at this effect, or ends before it. */
  async crash(effect: number | string, moment?: Moment): Promise<void> {
    const { sandbox } = this;
    const ports = sandbox.ports();
    const point = new CrashPoint(effect, moment);
    const { store, catalog } = point.wrap(ports);
    const dead = new AbortController();
    const replace: Store["replace"] = (...given) =>
      store.replace(...given).catch((error: unknown) => {
        dead.abort(error); // a process that dies while it renews its lease sends nothing any more
        throw error;
      });
    const changes = { ...ports, store: { ...store, replace }, catalog, signal: dead.signal };
    await this.run({}, changes).catch((error: unknown) => {
      if (!(error instanceof Crashed)) throw error;
    });
    sandbox.dead.add(ports.process.pid ?? 0);
  }

  wait<T>(work: Promise<T>, renewals?: number): Promise<T> {
    return inVirtualTime(this.clock, this.sandbox.simulator, work, renewals);
  }

  get counts(): Sandbox["simulator"]["counts"] {
    return this.sandbox.simulator.counts;
  }

  /** The fullest window, as the service counts it. */
  get fullest(): number {
    return this.counts.fullestWindow.requests;
  }

  get refused(): number {
    return this.counts.statuses.get(429) ?? 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.sandbox[Symbol.asyncDispose]();
  }
}

// Time that passes only while a run has nothing else to do, so that no test depends on the speed of the machine.

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
