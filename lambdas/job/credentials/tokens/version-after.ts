// The id of the one version that may follow another in a secret.

import { createHash } from "node:crypto";

/**
 * Secrets Manager takes an id for a new version (32 to 64 characters) and refuses one that exists with another value. So of
 * several processes that store something in place of the same version, one succeeds.
 * @param version undefined: the first one
 */
export function versionAfter(version: string | undefined, nth = 0): string {
  return createHash("sha256")
    .update(`after ${version ?? "nothing"} ${nth}`)
    .digest("hex");
}
