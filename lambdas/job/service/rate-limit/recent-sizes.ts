// Remembers the sizes of the last bodies, to estimate the next ones.

const REMEMBERED = 100;

export class RecentSizes {
  readonly #sizes: number[] = [];

  /** Of the last 100 bodies; 0 before the first. */
  get largest(): number {
    return Math.max(0, ...this.#sizes);
  }

  /** Of the last 100 bodies; 0 before the first. */
  get mean(): number {
    return this.#sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, this.#sizes.length);
  }

  add(bytes: number): void {
    this.#sizes.push(bytes);
    if (this.#sizes.length > REMEMBERED) this.#sizes.shift();
  }
}
