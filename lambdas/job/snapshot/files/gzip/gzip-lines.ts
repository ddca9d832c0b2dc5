// Lines as one gzip member.

import { GzipMember } from "./gzip-member.ts";
import { deflatedBlocks, type Lines, lineBlocks } from "./line-blocks.ts";

/** Takes lines only as fast as the result is read; an error of `lines` passes through unchanged. */
export async function* gzipLines(
  lines: Lines,
  { level }: { readonly level: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const member = new GzipMember();
  for await (const block of deflatedBlocks(lineBlocks(lines), level)) yield member.add(block);
  yield member.end();
}
