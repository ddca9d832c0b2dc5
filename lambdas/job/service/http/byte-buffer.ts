// Collects the pieces of a body in one buffer, so that a piece of one byte takes one byte.

const FIRST_CAPACITY = 65_536;

/** Grows by doubling and frees the old memory at once: it holds at most twice the bytes, and only while it grows. */
export class ByteBuffer {
  /** A body that arrives in one piece, as most do, is not copied. */
  #only: Uint8Array | undefined;
  #memory = new ArrayBuffer(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Read it when all pieces have been added. */
  get bytes(): Uint8Array {
    return this.#only ?? new Uint8Array(this.#memory, 0, this.#length);
  }

  add(piece: Uint8Array): void {
    if (this.#length === 0) this.#only = piece;
    else {
      const first = this.#only;
      this.#only = undefined;
      if (first) this.#copy(first, 0);
      this.#copy(piece, this.#length);
    }
    this.#length += piece.length;
  }

  #copy(piece: Uint8Array, at: number): void {
    const needed = at + piece.length;
    let capacity = Math.max(FIRST_CAPACITY, this.#memory.byteLength);
    while (capacity < needed) capacity *= 2;
    // Frees the old memory at once; left to the garbage collector, gigabytes of it would accumulate.
    if (capacity !== this.#memory.byteLength) this.#memory = this.#memory.transfer(capacity);
    new Uint8Array(this.#memory).set(piece, at);
  }
}
