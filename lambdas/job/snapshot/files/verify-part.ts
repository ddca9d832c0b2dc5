// Verifies a part: hashed as it is read, without parsing its rows.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "./damaged.ts";
import { unzipped } from "./gzip-lines.ts";

interface VerifyPartOptions {
  /** Called repeatedly while it reads; may throw to stop. */
  readonly proceed?: (() => void) | undefined;
  /** What to do when it is damaged. Default: restore it. */
  readonly remedy?: string;
}

/** Returns what the file is. Throws `STORE_CORRUPT` naming `key` unless its uncompressed bytes have the checksum. */
export async function verifyPart(
  store: Pick<Store, "open">,
  key: string,
  { sha256, bytes }: Pick<PartInfo, "sha256" | "bytes">,
  { proceed = () => undefined, remedy = RESTORE }: VerifyPartOptions = {},
): Promise<StoredFile> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", remedy);
  const file = new FileHash();
  const hash = createHash("sha256");
  let found = 0;
  for await (const chunk of unzipped(file.over(chunks), key, remedy)) {
    proceed();
    hash.update(chunk);
    found += chunk.length;
  }
  if (found === bytes && hash.digest("hex") === sha256) return file.result();
  throw damaged(key, "its checksum does not match", remedy);
}

/**
 * Verifies a part by its file as it lies in the store, without unzipping it; where that is not known, or is another one,
 * by its rows: they may have been compressed again. Throws `STORE_CORRUPT`.
 */
export async function verifyFile(
  store: Store,
  key: string,
  part: Pick<PartInfo, "sha256" | "bytes">,
  stored: StoredFile | undefined,
  proceed: () => void,
): Promise<void> {
  const chunks = stored && (await store.open(key));
  if (chunks !== undefined) {
    const file = new FileHash();
    for await (const _ of file.over(chunks)) proceed();
    if (isDeepStrictEqual(file.result(), stored)) return;
  }
  await verifyPart(store, key, part, { proceed });
}

/** The checksum of a file as it lies in the store, taken while it is written or read. */
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

/** What a part holds, as its manifest says. */
export interface PartInfo {
  /** The file's name in its prefix. */
  readonly file: string;
  readonly rows: number;
  /** Uncompressed. */
  readonly bytes: number;
  /** Hexadecimal, of the uncompressed bytes. */
  readonly sha256: string;
}

/** A part as it lies in the store. The same rows may be compressed to other bytes. */
export interface StoredFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface WrittenPart extends PartInfo {
  readonly stored: StoredFile;
}
