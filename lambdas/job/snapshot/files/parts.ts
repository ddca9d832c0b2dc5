// Parts: gzipped NDJSON files, written once and cut at a size; read; and verified without parsing their rows.

import { isDeepStrictEqual } from "node:util";
import { damaged, MAKE_AGAIN, RESTORE } from "../../errors/sync-error.ts";
import type { Store } from "../../storage/store.ts";
import {
  Checksum,
  type Content,
  gzipLines,
  type Lines,
  lineBytes,
  readLines,
  unzipped,
} from "./gzip-lines.ts";

/** What a part holds uncompressed, as its manifest says. */
export interface PartInfo extends Content {
  /** The file's name in its prefix. */
  readonly file: string;
  readonly rows: number;
}

export interface WrittenPart extends PartInfo {
  /** The part as it lies in the store. The same rows may be compressed to other bytes. */
  readonly stored: Content;
}

/** Uncompressed. */
export const MAX_PART_BYTES = 128 * 1024 * 1024;

/** What a file of lines holds, and what it is in the store. */
interface LinesFile extends Omit<WrittenPart, "file"> {
  /** False where the key was taken: nothing was written. */
  readonly isNew: boolean;
}

/** Writes one file. Errors of `lines` pass through unchanged, and nothing appears. */
export async function writeLines(
  store: Pick<Store, "create">,
  key: string,
  lines: Lines,
): Promise<LinesFile> {
  const [text, file] = [new Checksum(), new Checksum()];
  let rows = 0;
  async function* counted(): AsyncGenerator<string> {
    for await (const line of lines) {
      rows += 1;
      yield line;
    }
  }
  const created = await store.create(key, file.over(gzipLines(counted(), text)));
  return { rows, ...text.result(), stored: file.result(), isNew: created !== undefined };
}

interface WritePartsOptions {
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
  async function* fitting(): AsyncGenerator<string> {
    for (let bytes = 0; !next.done; next = await source.next()) {
      const size = lineBytes(next.value);
      if (bytes > 0 && bytes + size > maxBytes) return;
      bytes += size;
      yield next.value;
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

async function* iterate(lines: Lines): AsyncGenerator<string, void> {
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
  const text = new Checksum();
  let rows = 0;
  for await (const line of readLines(chunks, key, RESTORE, text)) {
    rows += 1;
    yield line;
  }
  if (rows === expected.rows && text.result().sha256 === expected.sha256) return;
  throw damaged(key, `its ${rows} rows are not the ${expected.rows} rows it was made of`, RESTORE);
}

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
): Promise<Content> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", remedy);
  const [text, file] = [new Checksum(), new Checksum()];
  for await (const _ of text.over(unzipped(file.over(chunks), key, remedy))) proceed();
  if (isDeepStrictEqual(text.result(), { bytes, sha256 })) return file.result();
  throw damaged(key, "its checksum does not match", remedy);
}

/**
 * Verifies a part by its file as it lies in the store, without unzipping it; where that is another one, by its rows: they
 * may have been compressed again. Throws `STORE_CORRUPT`.
 */
export async function verifyFile(
  store: Store,
  key: string,
  part: Pick<WrittenPart, "sha256" | "bytes" | "stored">,
  proceed: () => void,
): Promise<void> {
  const chunks = await store.open(key);
  if (chunks !== undefined) {
    const file = new Checksum();
    for await (const _ of file.over(chunks)) proceed();
    if (isDeepStrictEqual(file.result(), part.stored)) return;
  }
  await verifyPart(store, key, part, { proceed });
}
