// Parts: gzipped NDJSON files, written once and cut at a size.

import { createHash } from "node:crypto";
import type { Store } from "../../storage/store.ts";
import { damaged, MAKE_AGAIN, RESTORE } from "./damaged.ts";
import { gzipLines, type Lines, lineBytes, readLines } from "./gzip-lines.ts";
import { FileHash, type PartInfo, type StoredFile, verifyPart, type WrittenPart } from "./verify-part.ts";

/** Uncompressed. */
export const MAX_PART_BYTES = 128 * 1024 * 1024;

/** What a file of lines holds, and what it is in the store. */
interface LinesFile extends Omit<PartInfo, "file"> {
  readonly stored: StoredFile;
  /** False where the key was taken: nothing was written. */
  readonly isNew: boolean;
}

/** Writes one file. Errors of `lines` pass through unchanged, and nothing appears. */
export async function writeLines(
  store: Pick<Store, "create">,
  key: string,
  lines: Lines,
): Promise<LinesFile> {
  const text = createHash("sha256");
  const file = new FileHash();
  let rows = 0;
  let bytes = 0;
  async function* counted(): AsyncGenerator<string | Uint8Array> {
    for await (const line of lines) {
      rows += 1;
      bytes += lineBytes(line);
      text.update(line).update("\n");
      yield line;
    }
  }
  const created = await store.create(key, file.over(gzipLines(counted())));
  return { rows, bytes, sha256: text.digest("hex"), stored: file.result(), isNew: created !== undefined };
}

export interface WritePartsOptions {
  readonly store: Pick<Store, "create" | "open">;
  readonly key: (index: number) => string;
  /** The same lines in every process that writes these parts: a part that exists already must hold exactly them. */
  readonly lines: Lines;
  /** Uncompressed; a longer line is a part of its own. Default 128 MiB. */
  readonly maxBytes?: number;
}

/**
 * Cuts greedily between lines: a part is full when the next line would exceed the size. No lines, no part. Throws
 * `STORE_CORRUPT` when a part that exists already differs; errors of `lines` pass through unchanged.
 */
export async function writeParts(options: WritePartsOptions): Promise<readonly WrittenPart[]> {
  const { store, key, lines, maxBytes = MAX_PART_BYTES } = options;
  const parts: WrittenPart[] = [];
  const source = iterate(lines);
  let next = await source.next();
  async function* fitting(): AsyncGenerator<string | Uint8Array> {
    let bytes = 0;
    while (!next.done) {
      bytes += lineBytes(next.value);
      yield next.value;
      next = await source.next();
      if (!next.done && bytes + lineBytes(next.value) > maxBytes) return;
    }
  }
  try {
    while (!next.done) {
      const path = key(parts.length);
      const { isNew, stored, ...content } = await writeLines(store, path, fitting());
      const part = { file: path.slice(path.lastIndexOf("/") + 1), ...content };
      const standing = isNew ? stored : await verifyPart(store, path, part, { remedy: MAKE_AGAIN });
      parts.push({ ...part, stored: standing });
    }
    return parts;
  } finally {
    await source.return(undefined);
  }
}

async function* iterate(lines: Lines): AsyncGenerator<string | Uint8Array, void> {
  yield* lines;
}

/**
 * The lines of a snapshot's parts, in order. Throws `STORE_CORRUPT` for a part that is missing or not what its
 * manifest says; the latter shows at the part's end, so use nothing made of the lines before this returns.
 */
export async function* readParts(
  store: Store,
  prefix: string,
  parts: readonly PartInfo[],
): AsyncGenerator<string, void, undefined> {
  for (const part of parts) yield* linesOf(store, `${prefix}${part.file}`, part);
}

async function* linesOf(
  store: Store,
  key: string,
  expected: Pick<PartInfo, "rows" | "sha256">,
): AsyncGenerator<string, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", RESTORE);
  const hash = createHash("sha256");
  let rows = 0;
  for await (const line of readLines(chunks, key, RESTORE)) {
    rows += 1;
    hash.update(line).update("\n");
    yield line;
  }
  if (rows === expected.rows && hash.digest("hex") === expected.sha256) return;
  throw damaged(key, `its ${rows} rows are not the ${expected.rows} rows it was made of`, RESTORE);
}
