// Verifies a part: hashed as it is read, without parsing its rows.

import { createHash } from "node:crypto";
import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "./damaged.ts";
import { unzipped } from "./gzip/read-lines.ts";
import type { PartInfo } from "./part-info.ts";

export interface VerifyPartOptions {
  /** Called repeatedly while it reads; may throw to stop. */
  readonly proceed?: (() => void) | undefined;
  /** What to do when it is damaged. Default: restore it. */
  readonly remedy?: string;
}

/** Throws `STORE_CORRUPT` naming `key` unless its uncompressed bytes have the checksum. */
export async function verifyPart(
  store: Store,
  key: string,
  { sha256, bytes }: Pick<PartInfo, "sha256" | "bytes">,
  { proceed = () => undefined, remedy = RESTORE }: VerifyPartOptions = {},
): Promise<void> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", remedy);
  const hash = createHash("sha256");
  let found = 0;
  for await (const chunk of unzipped(chunks, { what: key, remedy })) {
    proceed();
    hash.update(chunk);
    found += chunk.length;
  }
  if (found === bytes && hash.digest("hex") === sha256) return;
  throw damaged(key, "its checksum does not match", remedy);
}
