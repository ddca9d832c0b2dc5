// The one rule for time: a start works until the time left no longer covers its next unit, or until the budget has
// nothing to give for a long time.

import type { RunPorts } from "../run-ports.ts";
import { type EarlyStop, StoppedEarly } from "./stopped-early.ts";

/** For what follows the last unit (run log, lease, event), and for a unit slower than any before. */
const RESERVE_MS = 30_000;

type TimePorts = Pick<RunPorts, "clock" | "timeLeftMs" | "reserveMs">;

/**
 * How long to wait, in milliseconds, before so many requests can be sent without a long pause between two of them; 0
 * where they can be sent now.
 */
export type LongPauseMs = (requests: number) => number;

/** Measures units of work. A unit is done as a whole, or again from its beginning. */
export class TimeBudget {
  readonly #ports: TimePorts;
  readonly #longPauseMs: LongPauseMs;
  #unitAtMs: number;
  #unitItems = 0;
  #slowestMsPerItem: number | undefined;

  /** @param longPauseMs where something else than this process can wait for the budget */
  constructor(ports: TimePorts, longPauseMs: LongPauseMs = () => 0) {
    this.#ports = ports;
    this.#longPauseMs = longPauseMs;
    this.#unitAtMs = ports.clock.monotonicMs();
  }

  /**
   * Whether there is time for so many items, at the speed of the slowest unit so far, and for the reserve. Always true
   * without a time limit. While no speed is known the reserve is enough, so every start makes progress.
   */
  covers(items: number): boolean {
    const { timeLeftMs, reserveMs = RESERVE_MS } = this.#ports;
    const neededMs = items * (this.#slowestMsPerItem ?? this.#speed()) + reserveMs;
    return timeLeftMs === undefined || timeLeftMs() >= neededMs;
  }

  /**
   * Why a unit should not begin now; undefined where it should.
   * @param items what is to be done before the unit is over
   * @param requests those of the unit
   */
  stopBefore(items: number, requests: number): Pick<EarlyStop, "reason" | "waitMs"> | undefined {
    const waitMs = this.#longPauseMs(requests);
    if (waitMs > 0) return { reason: "BUDGET", waitMs };
    return this.covers(items) ? undefined : { reason: "TIME_LIMIT", waitMs: 0 };
  }

  /** So many more items of this unit are done. */
  advance(items: number): void {
    this.#unitItems += items;
  }

  /** The unit is done; the next one begins now. A unit without items shows no speed. */
  endUnit(): void {
    if (this.#unitItems > 0) {
      this.#slowestMsPerItem = Math.max(this.#slowestMsPerItem ?? 0, this.#speed());
    }
    this.#unitAtMs = this.#ports.clock.monotonicMs();
    this.#unitItems = 0;
  }

  #speed(): number {
    return this.#unitItems === 0 ? 0 : (this.#ports.clock.monotonicMs() - this.#unitAtMs) / this.#unitItems;
  }
}

/** @param soFar what is done, in words: "812 of 2000 events are staged". */
export function outOfTime(soFar: string): StoppedEarly {
  return new StoppedEarly({ reason: "TIME_LIMIT", soFar, waitMs: 0 });
}
