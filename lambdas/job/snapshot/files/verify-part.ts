// Verifies a part against its manifest: hashed as it is read, without parsing its rows.

import { createHash } from "node:crypto";
import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "./damaged.ts";
import { unzipped } from "./gzip-lines.ts";
import type { PartInfo } from "./parts.ts";

/**
 * Throws `STORE_CORRUPT` naming `key` unless its uncompressed bytes have the checksum in the manifest.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function verifyPart(
  store: Store,
  key: string,
  { sha256, bytes }: Pick<PartInfo, "sha256" | "bytes">,
  proceed: () => void = () => undefined,
): Promise<void> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", RESTORE);
  const hash = createHash("sha256");
  let found = 0;
  for await (const chunk of unzipped(chunks, { what: key, remedy: RESTORE })) {
    proceed();
    hash.update(chunk);
    found += chunk.length;
  }
  if (found === bytes && hash.digest("hex") === sha256) return;
  throw damaged(key, "its checksum is not the one in the manifest", RESTORE);
}
