// The checksum of a file as it lies in the store, taken while it is written or read.

import { createHash } from "node:crypto";
import type { StoredFile } from "./part-info.ts";

export class FileHash {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Passes the chunks on. */
  async *over(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.add(chunk);
      yield chunk;
    }
  }

  /** Ends it. */
  result(): StoredFile {
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
