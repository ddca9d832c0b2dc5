// Parts: gzipped NDJSON files, written once and cut at a size; the same lines always give the same parts.

import { createHash } from "node:crypto";
import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "./damaged.ts";
import { deflatedBlocks, type Lines, lineBlocks } from "./gzip/line-blocks.ts";
import { readLineBytes } from "./gzip/read-lines.ts";
import type { PartInfo, WrittenPart } from "./part-info.ts";
import { PartWriter, type PartWriterOptions } from "./part-writer.ts";

export interface WritePartsOptions extends PartWriterOptions {
  /** The same lines in every process that writes these parts: a part that exists already must hold exactly them. */
  readonly lines: Lines;
}

/** No lines, no part. Throws `STORE_CORRUPT` when a part that exists already differs; errors of `lines` pass through unchanged. */
export async function writeParts({ lines, ...options }: WritePartsOptions): Promise<readonly WrittenPart[]> {
  const parts = new PartWriter(options);
  try {
    for await (const block of deflatedBlocks(lineBlocks(lines))) {
      await parts.append(block);
      await parts.release();
    }
    return await parts.finish();
  } catch (error) {
    await parts.abort(error);
    throw error;
  }
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
  for await (const line of readPartBytes(store, prefix, parts)) yield line.toString("utf8");
}

/** The same, as bytes. */
export async function* readPartBytes(
  store: Store,
  prefix: string,
  parts: readonly PartInfo[],
): AsyncGenerator<Buffer, void, undefined> {
  for (const part of parts) yield* linesOf(store, `${prefix}${part.file}`, part);
}

async function* linesOf(
  store: Store,
  key: string,
  expected: Pick<PartInfo, "rows" | "sha256">,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", RESTORE);
  const hash = createHash("sha256");
  const onBytes = (bytes: Uint8Array): unknown => hash.update(bytes);
  let rows = 0;
  for await (const line of readLineBytes(chunks, { what: key, remedy: RESTORE, onBytes })) {
    rows += 1;
    yield line;
  }
  if (rows === expected.rows && hash.digest("hex") === expected.sha256) return;
  throw damaged(key, `its ${rows} rows are not the ${expected.rows} rows it was made of`, RESTORE);
}
