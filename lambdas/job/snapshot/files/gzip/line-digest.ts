// Counts and hashes lines as they go by, as the bytes they are in an uncompressed file.

import { createHash } from "node:crypto";

export class LineDigest {
  readonly #hash = createHash("sha256");
  #rows = 0;

  add(line: string): void {
    this.#hash.update(line).update("\n");
    this.#rows += 1;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Hexadecimal, of all lines so far. */
  sha256(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** The bytes of a line in a file, its newline included. */
export function lineBytes(line: string): number {
  return Buffer.byteLength(line) + 1;
}
