// The body of a file that is written piece by piece: one side calls, the store iterates.

export class PartBody implements AsyncIterable<Uint8Array> {
  #chunk: Uint8Array | undefined;
  #end: { readonly error?: unknown } | undefined;
  #isClosed = false;
  #wakeReader = (): void => undefined;
  #wakeWriter = (): void => undefined;

  /** True once nothing reads on. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Returns when the chunk before this one is taken, or nothing more will be. */
  async write(chunk: Uint8Array): Promise<void> {
    while (this.#chunk !== undefined && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    this.#chunk = chunk;
    this.#wakeReader();
  }

  end(): void {
    this.#end = {};
    this.#wakeReader();
  }

  /** The reader gets this error instead of the end. */
  fail(error: unknown): void {
    this.#end = { error };
    this.#wakeReader();
  }

  /** Nothing reads on, or has ever begun to: writing returns at once. */
  close(): void {
    this.#isClosed = true;
    this.#wakeWriter();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#end && "error" in this.#end) throw this.#end.error;
        const chunk = this.#chunk;
        if (chunk !== undefined) {
          this.#chunk = undefined;
          this.#wakeWriter();
          yield chunk;
        } else if (this.#end) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.close();
    }
  }
}
