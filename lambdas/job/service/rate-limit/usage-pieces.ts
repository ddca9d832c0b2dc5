// Usage in order of time, in sums of a limited number: memory is bounded whatever the number of requests.

export interface Piece {
  readonly fromMs: number;
  /** All of it counts as used at its latest instant, so never for too short. By the monotonic clock, as `fromMs`. */
  readonly latestMs: number;
  readonly requests: number;
  readonly bytes: number;
}

export class UsagePieces {
  readonly #lengthMs: number;
  readonly #stepMs: number;
  #pieces: Piece[] = [];
  #gone = 0; // pieces before this index were taken out
  #requests = 0;
  #bytes = 0;

  /** @param stepMs what begins within it is one piece */
  constructor(lengthMs: number, stepMs: number) {
    this.#lengthMs = lengthMs;
    this.#stepMs = stepMs;
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Oldest first. */
  *all(): Generator<Piece> {
    for (let index = this.#gone; ; index += 1) {
      const piece = this.#pieces[index];
      if (piece === undefined) return;
      yield piece;
    }
  }

  get oldest(): Piece | undefined {
    return this.#pieces[this.#gone];
  }

  /** One more millisecond, because instants are rounded down and services count the edges of windows differently. */
  expiryMs({ latestMs }: Piece): number {
    return latestMs + this.#lengthMs + 1;
  }

  /** It is not older than those before. */
  append({ fromMs, latestMs, requests, bytes }: Piece): void {
    this.#count(requests, bytes);
    const end = this.#pieces.length - 1;
    const last = end < this.#gone ? undefined : this.#pieces[end];
    if (last === undefined || latestMs - last.fromMs >= this.#stepMs) {
      this.#pieces.push({ fromMs, latestMs, requests, bytes });
      return;
    }
    const sum = { requests: last.requests + requests, bytes: last.bytes + bytes };
    this.#pieces[end] = { fromMs: last.fromMs, latestMs, ...sum };
  }

  /** Takes out the oldest piece if it has expired. */
  takeExpired(nowMs: number): Piece | undefined {
    const { oldest } = this;
    if (oldest === undefined || nowMs < this.expiryMs(oldest)) return undefined;
    this.#count(-oldest.requests, -oldest.bytes);
    this.#gone += 1;
    if (this.#gone > 1_000) {
      this.#pieces = this.#pieces.slice(this.#gone);
      this.#gone = 0;
    }
    return oldest;
  }

  #count(requests: number, bytes: number): void {
    this.#requests += requests;
    this.#bytes += bytes;
  }
}
