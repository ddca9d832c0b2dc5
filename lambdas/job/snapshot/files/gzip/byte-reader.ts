// Takes pieces of a given length from a stream of chunks.

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes without taking them; fewer only at the end. */
  async peek(bytes: number): Promise<Buffer> {
    if (this.#held.length < bytes) {
      const held: Uint8Array[] = [this.#held];
      let length = this.#held.length;
      while (length < bytes) {
        const next = await this.#chunks.next();
        if (next.done === true) break;
        held.push(next.value);
        length += next.value.length;
      }
      this.#held = Buffer.concat(held);
    }
    return this.#held.subarray(0, bytes);
  }

  /** The next bytes; fewer only at the end. */
  async take(bytes: number): Promise<Buffer> {
    const taken = await this.peek(bytes);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /** All that was not taken. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield this.#held;
    for (let next = await this.#chunks.next(); next.done !== true; next = await this.#chunks.next()) {
      yield next.value;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
