// Stores the tokens of a renewal. The old ones are spent, so it does not give up at the first problem.

import type { OAuthTokens } from "../../../credentials/tokens/oauth-tokens.ts";
import type { TokenStore } from "../../../credentials/tokens/token-store.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import type { Clock } from "../../../runtime/clock.ts";

export interface KeptTokens {
  readonly version: string;
  readonly tokens: OAuthTokens;
}

const ATTEMPTS = 5;
const PAUSE_MS = 1_000;

/**
 * Puts `rotated` in place of `spent`, and returns what is stored then: others, where a person has authorized
 * again meanwhile. Throws the store's error after several attempts.
 */
export async function storeRotated(
  { store, clock }: { readonly store: TokenStore; readonly clock: Pick<Clock, "sleep"> },
  spent: KeptTokens,
  rotated: OAuthTokens,
): Promise<KeptTokens> {
  let version: string | undefined = spent.version;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const stored = await store.replace(version, rotated);
      if (stored !== undefined) return { version: stored, tokens: rotated };
      const other = await store.read();
      // The same tokens as a new version, or none that are of use: ours are the newest.
      if (other.kind === "tokens" && other.tokens.refresh_token !== spent.tokens.refresh_token) return other;
      version = other.kind === "none" ? undefined : other.version;
      if (attempt >= ATTEMPTS) throw changing(store.place);
    } catch (error) {
      if (!(error instanceof SyncError) || attempt >= ATTEMPTS) throw error;
      await clock.sleep(PAUSE_MS);
    }
  }
}

function changing(place: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `The renewed tokens could not be stored in ${place}, because it changed ${ATTEMPTS} times meanwhile. End what changes it, and start again.`,
  );
}
