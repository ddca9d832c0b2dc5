// The one rule for time (design section 3): a start works until the time left no longer covers its next unit.

import { SyncError } from "../../errors/sync-error.ts";
import type { RunPorts } from "../run-ports.ts";

/** For what comes after the last unit (run log, lease, the news of it), and for a unit slower than any before. */
const RESERVE_MS = 30_000;

/** Measures units of work: items that are done in one piece or again from the beginning. */
export class TimeBudget {
  readonly #ports: Pick<RunPorts, "clock" | "timeLeftMs">;
  #unitAtMs: number;
  #unitItems = 0;
  #slowestMsPerItem: number | undefined;

  constructor(ports: Pick<RunPorts, "clock" | "timeLeftMs">) {
    this.#ports = ports;
    this.#unitAtMs = ports.clock.monotonicMs();
  }

  /**
   * Whether there is time for so many items, at the speed of the slowest unit so far, and for the reserve. Always,
   * where nothing limits the time. As long as nothing is known of the speed the reserve is enough, so every start
   * gets on.
   */
  covers(items: number): boolean {
    const leftMs = this.#ports.timeLeftMs?.();
    return leftMs === undefined || leftMs >= items * (this.#slowestMsPerItem ?? this.#speed()) + RESERVE_MS;
  }

  /** So many items of this unit are done. */
  advance(items: number): void {
    this.#unitItems += items;
  }

  /** The unit is done; the next one begins now. One without any item to do says nothing of the speed. */
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
export function outOfTime(soFar: string): SyncError {
  return new SyncError(
    "INTERRUPTED",
    `The time limit is near, so the run stops here: ${soFar}. What is staged is kept: the next start of this run goes on from there.`,
  );
}
