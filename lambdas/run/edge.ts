// Where collecting stops: at the edge of a shard, when the time left does not cover the next one.

import type { Plan } from "../snapshot/plan.ts";
import type { Pace } from "./pace.ts";

/** Requests run ahead of the shard that is being written: whichever comes to a shard first decides for both. */
export class Edge {
  readonly #plan: Plan;
  readonly #pace: Pace;
  readonly #begun = new Set<number>();
  /** Events of shards that have begun, which are not done yet. */
  #open = 0;
  #done = 0;
  #isReached = false;

  constructor(plan: Plan, pace: Pace) {
    this.#plan = plan;
    this.#pace = pace;
  }

  mayBegin(index: number): boolean {
    if (this.#begun.has(index)) return true;
    const events = this.#plan.shard(index).length;
    this.#isReached ||= !this.#pace.covers(this.#open + events);
    if (this.#isReached) return false;
    this.#begun.add(index);
    this.#open += events;
    return true;
  }

  taken(): void {
    this.#open -= 1;
    this.#done += 1;
    this.#pace.advance(1);
  }

  /** How far the plan is, with what an earlier start has staged. */
  describe(missing: readonly number[]): string {
    const total = this.#plan.events.length;
    const wanted = missing.reduce((sum, index) => sum + this.#plan.shard(index).length, 0);
    return `${total - wanted + this.#done} of ${total} events are staged`;
  }
}
