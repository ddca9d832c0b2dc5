// What a part holds, block after block: the bytes of its file, and what its manifest will say of it.

import { createHash } from "node:crypto";
import { GzipMember } from "./gzip/gzip-member.ts";
import type { DeflatedBlock } from "./gzip/line-blocks.ts";
import type { PartInfo } from "./part-info.ts";

const NEWLINE = 0x0a;

export class PartContent {
  readonly #hash = createHash("sha256");
  readonly #member = new GzipMember();
  #rows = 0;
  #bytes = 0;
  #sha256 = "";

  /** Uncompressed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns what comes next in the file. */
  add(block: DeflatedBlock): Uint8Array {
    this.#hash.update(block.text);
    this.#bytes += block.text.length;
    this.#rows += linesOf(block.text);
    return this.#member.add(block);
  }

  /** Returns what comes last in the file. */
  end(): Uint8Array {
    this.#sha256 = this.#hash.digest("hex");
    return this.#member.end();
  }

  /** Once it is ended. */
  get info(): Omit<PartInfo, "file"> {
    return { rows: this.#rows, bytes: this.#bytes, sha256: this.#sha256 };
  }
}

function linesOf(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
