// Stores the tokens of a new authorization in place of whatever is stored.

import { SyncError } from "../../errors/sync-error.ts";
import type { OAuthTokens } from "./oauth-tokens.ts";
import type { TokenStore } from "./token-store.ts";

/** Each repeat means that a run has renewed the tokens before meanwhile. */
const ATTEMPTS = 5;

/** Throws `STORE_FAILED`, with the store's own remedy where it refuses. */
export async function storeAuthorized(store: TokenStore, tokens: OAuthTokens): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const stored = await store.read();
    const version = stored.kind === "none" ? undefined : stored.version;
    if ((await store.replace(version, tokens)) !== undefined) return;
  }
  throw new SyncError(
    "STORE_FAILED",
    `The tokens could not be stored in ${store.place}, because other processes changed it ${ATTEMPTS} times meanwhile. End what changes it, and authorize again.`,
  );
}
