// Parts: gzipped NDJSON files, written once and cut at a size; the same lines always give the same parts.

import type { Store } from "../../storage/store.ts";
import { damaged, MAKE_AGAIN, RESTORE } from "./damaged.ts";
import { gzipLines, readLines } from "./gzip-lines.ts";
import { LineDigest, lineBytes } from "./line-digest.ts";

const MAX_BYTES = 128 * 1024 * 1024;
/** Of gzip. Measured on events of 2 KB: level 6 takes three times as long and makes files a seventh smaller. */
const LEVEL = 4;

export interface PartInfo {
  /** The file's name in its prefix. */
  readonly file: string;
  readonly rows: number;
  /** Uncompressed. */
  readonly bytes: number;
  /** Hexadecimal, of the uncompressed bytes. */
  readonly sha256: string;
}

export interface WritePartsOptions {
  readonly store: Store;
  readonly key: (index: number) => string;
  /** The same lines in every process that writes these parts: a part that exists already must hold exactly them. */
  readonly lines: AsyncIterable<string>;
  /** Uncompressed; a longer line is a part of its own. Default 128 MiB. */
  readonly maxBytes?: number;
  readonly level?: number;
}

/** No lines, no part. Throws `STORE_CORRUPT` when a part that exists already differs; errors of `lines` pass through. */
export async function writeParts(options: WritePartsOptions): Promise<readonly PartInfo[]> {
  const { store, key, lines, maxBytes = MAX_BYTES, level = LEVEL } = options;
  const cutter = new PartCutter(lines[Symbol.asyncIterator](), maxBytes);
  const parts: PartInfo[] = [];
  try {
    while ((await cutter.peek()) !== undefined) {
      parts.push(await writePart(store, key(parts.length), cutter, level));
    }
  } finally {
    await cutter.close();
  }
  return parts;
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
  for (const part of parts) yield* linesOf(store, `${prefix}${part.file}`, part, RESTORE);
}

async function writePart(store: Store, key: string, cutter: PartCutter, level: number): Promise<PartInfo> {
  const digest = new LineDigest();
  const created = await store.create(key, gzipLines(cutter.nextPart(digest), { level }));
  if (created === undefined) {
    // The part that is there must hold the same lines.
    const expected = { rows: digest.rows, sha256: digest.sha256() };
    for await (const _ of linesOf(store, key, expected, MAKE_AGAIN));
  }
  const file = key.slice(key.lastIndexOf("/") + 1);
  return { file, rows: digest.rows, bytes: digest.bytes, sha256: digest.sha256() };
}

async function* linesOf(
  store: Store,
  key: string,
  expected: Pick<PartInfo, "rows" | "sha256">,
  remedy: string,
): AsyncGenerator<string, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", remedy);
  const found = new LineDigest();
  for await (const line of readLines(chunks, { what: key, remedy })) {
    found.add(line);
    yield line;
  }
  if (found.rows === expected.rows && found.sha256() === expected.sha256) return;
  throw damaged(key, `its ${found.rows} rows are not the ${expected.rows} rows it was made of`, remedy);
}

/** Cuts a stream of lines greedily: a part is full when the next line would exceed the size. */
class PartCutter {
  readonly #lines: AsyncIterator<string>;
  readonly #maxBytes: number;
  #ahead: string | undefined;

  constructor(lines: AsyncIterator<string>, maxBytes: number) {
    this.#lines = lines;
    this.#maxBytes = maxBytes;
  }

  /** The line that comes next, without taking it. */
  async peek(): Promise<string | undefined> {
    if (this.#ahead === undefined) {
      const next = await this.#lines.next();
      if (next.done !== true) this.#ahead = next.value;
    }
    return this.#ahead;
  }

  async *nextPart(digest: LineDigest): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const line = await this.peek();
      if (line === undefined) return;
      if (digest.rows > 0 && digest.bytes + lineBytes(line) > this.#maxBytes) return;
      this.#ahead = undefined;
      digest.add(line);
      yield line;
    }
  }

  async close(): Promise<void> {
    await this.#lines.return?.();
  }
}
