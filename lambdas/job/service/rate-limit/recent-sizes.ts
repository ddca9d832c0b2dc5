// Remembers how large the last bodies were, so that the bytes of the next one can be foreseen.

const REMEMBERED = 100;

export class RecentSizes {
  readonly #sizes: number[] = [];

  /** Of the last 100 bodies; 0 while there was none. */
  get largest(): number {
    return Math.max(0, ...this.#sizes);
  }

  add(bytes: number): void {
    this.#sizes.push(bytes);
    if (this.#sizes.length > REMEMBERED) this.#sizes.shift();
  }
}
