// The pace for a service that answers some requests with 503 because they come too fast, while it answers others, as
// `limit_req` of nginx does: such a 503 halves the rate at once, and each answer raises it by a twentieth.

/** So many requests tell the present rate. */
const REMEMBERED = 50;
const FASTER = 1.05;
/** Below it there is no pace. */
const LEAST_MS = 1;
const MOST_MS = 5_000;

/** Instants are those of the monotonic clock, in milliseconds. */
export class Pace {
  /** Between two requests; 0 where nothing has asked for a pace. */
  #intervalMs = 0;
  #freeAtMs = Number.NEGATIVE_INFINITY;
  readonly #sentAtMs: number[] = [];
  #slowedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a request was answered that was sent since: else the service is down, and no pace helps. */
  #hasAnswered = false;

  /** When the next request may be sent. */
  get freeAtMs(): number {
    return this.#freeAtMs;
  }

  send(nowMs: number): void {
    this.#sentAtMs.push(nowMs);
    if (this.#sentAtMs.length > REMEMBERED) this.#sentAtMs.shift();
    if (this.#intervalMs > 0) this.#freeAtMs = nowMs + this.#intervalMs;
  }

  /** A request is answered. */
  answer(sentAtMs: number): void {
    if (sentAtMs < this.#slowedAtMs) return;
    this.#hasAnswered = true;
    const fasterMs = this.#intervalMs / FASTER;
    this.#intervalMs = fasterMs < LEAST_MS ? 0 : fasterMs;
  }

  /** A request is answered with 503. What was sent before the rate was halved says nothing of the rate now. */
  overload(sentAtMs: number, nowMs: number): void {
    if (!this.#hasAnswered || sentAtMs < this.#slowedAtMs) return;
    this.#intervalMs = Math.min(MOST_MS, 2 * Math.max(LEAST_MS, this.#intervalMs || this.#presentMs(nowMs)));
    this.#freeAtMs = nowMs + this.#intervalMs;
    this.#slowedAtMs = nowMs;
    this.#hasAnswered = false;
  }

  /** The mean interval of the last requests, where there is no pace. */
  #presentMs(nowMs: number): number {
    const [firstMs = nowMs] = this.#sentAtMs;
    return (nowMs - firstMs) / Math.max(1, this.#sentAtMs.length);
  }
}
