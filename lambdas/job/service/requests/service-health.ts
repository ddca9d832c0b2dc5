// Whether a failed request is alone, or the service as a whole struggles.

const REMEMBERED = 50;
/** A fifth. The requests in flight when a connection or a server dies are fewer, or soon outweighed. */
const MOST_FAILED = 10;

export class ServiceHealth {
  /** Of the last attempts, whether each failed: a ring. */
  readonly #failed: boolean[] = Array.from({ length: REMEMBERED }, () => false);
  #at = 0;
  #failures = 0;

  /** At least a fifth of the last 50 attempts failed. */
  get isStruggling(): boolean {
    return this.#failures >= MOST_FAILED;
  }

  /** A response came that is used, or that says what to do. */
  succeeded(): void {
    this.#add(false);
  }

  /** No usable response came, for no reason that the service gave. */
  failed(): void {
    this.#add(true);
  }

  #add(failed: boolean): void {
    this.#failures += Number(failed) - Number(this.#failed[this.#at]);
    this.#failed[this.#at] = failed;
    this.#at = (this.#at + 1) % REMEMBERED;
  }
}
