// The one rule for time: a start works until the time left no longer covers its next unit.

import { SyncError } from "../../errors/sync-error.ts";
import type { RunPorts } from "../run-ports.ts";

/** For what follows the last unit (run log, lease, event), and for a unit slower than any before. */
const RESERVE_MS = 30_000;

/** Measures units of work. A unit is done as a whole, or again from its beginning. */
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
   * Whether there is time for so many items, at the speed of the slowest unit so far, and for the reserve. Always true
   * without a time limit. While no speed is known the reserve is enough, so every start makes progress.
   */
  covers(items: number): boolean {
    const leftMs = this.#ports.timeLeftMs?.();
    return leftMs === undefined || leftMs >= items * (this.#slowestMsPerItem ?? this.#speed()) + RESERVE_MS;
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
export function outOfTime(soFar: string): SyncError {
  return new SyncError(
    "INTERRUPTED",
    `The time limit is near, so the run stops here: ${soFar}. What is staged is kept, and the next start of this run resumes there.`,
  );
}
