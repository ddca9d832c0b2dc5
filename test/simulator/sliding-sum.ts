// The sum of what happened in the last while. An amount counts for exactly `windowMs`, its own instant included.

interface Use {
  readonly atMs: number;
  readonly amount: number;
}

/** Instants must not go backwards. */
export class SlidingSum {
  #uses: Use[] = [];
  /** Uses before this index have left the window. */
  #first = 0;
  #sum = 0;

  add(atMs: number, amount: number): void {
    this.#uses.push({ atMs, amount });
    this.#sum += amount;
  }

  at(nowMs: number, windowMs: number): number {
    for (let use = this.#uses[this.#first]; use !== undefined; use = this.#uses[this.#first]) {
      if (use.atMs > nowMs - windowMs) break;
      this.#sum -= use.amount;
      this.#first += 1;
    }
    if (this.#first > 1_000 && this.#first > this.#uses.length / 2) {
      this.#uses = this.#uses.slice(this.#first);
      this.#first = 0;
    }
    return this.#sum;
  }

  /** The first instant from `nowMs` on at which the sum is below `limit`, if nothing is added. */
  below(limit: number, nowMs: number, windowMs: number): number {
    let left = this.at(nowMs, windowMs);
    let instantMs = nowMs;
    for (let index = this.#first; left >= limit; index += 1) {
      const use = this.#uses[index];
      if (use === undefined) throw new Error(`a limit of ${limit} lets nothing in, ever`);
      left -= use.amount;
      instantMs = use.atMs + windowMs;
    }
    return instantMs;
  }
}
