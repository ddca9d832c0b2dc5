// Passes the pieces of one body to its reader, and remembers an error of the reader until the exchange is over.

import type { BodySink, HttpResponse } from "../http/transport.ts";

/** Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
export interface BodyReader<T> {
  add(piece: Uint8Array): void;
  /** The result, once the whole body was added. */
  end(headers: HttpResponse["headers"]): T;
}

export class BodyPieces<T> implements BodySink {
  readonly #reader: BodyReader<T>;
  #failure: { readonly error: unknown } | undefined;

  constructor(reader: BodyReader<T>) {
    this.#reader = reader;
  }

  add(piece: Uint8Array): boolean {
    if (this.#failure) return false;
    try {
      this.#reader.add(piece);
      return true;
    } catch (error) {
      this.#failure = { error };
      return false;
    }
  }

  /** Throws what the reader throws. */
  end(headers: HttpResponse["headers"]): T {
    if (this.#failure) throw this.#failure.error;
    return this.#reader.end(headers);
  }
}
