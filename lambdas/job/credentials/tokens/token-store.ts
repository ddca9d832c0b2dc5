// The port of the place that keeps the tokens of an OAuth authorization, which is replaced with each renewal.

import type { OAuthTokens } from "./oauth-tokens.ts";

/** What is stored now. `version` names the value: another value has another name. */
export type StoredTokens =
  | { readonly kind: "tokens"; readonly version: string; readonly tokens: OAuthTokens }
  /** Something else than tokens: an empty file, another program's text. */
  | { readonly kind: "unusable"; readonly version: string }
  /** Nothing was ever stored. */
  | { readonly kind: "none" };

/** The right to renew one version of the tokens. */
export interface RenewalClaim {
  /** False as soon as another process may claim the same version: then no request is sent any more. */
  readonly isHeld: boolean;
  /** Ends the claim. Nothing happens where it has ended already. */
  release(): Promise<void>;
}

/**
 * Keeps the tokens of one authorization, also for several processes and accounts at once. Sends nothing to the
 * identity provider. Every operation throws `SyncError` `STORE_FAILED` or `CREDENTIALS_INVALID` for what the place refuses.
 */
export interface TokenStore {
  /** The place, in the words of a message: "the file …", "the secret …". */
  readonly place: string;
  /** Whether a place without tokens means that the setup is not finished, as with a secret that the stack made. */
  readonly isCreatedEmpty: boolean;
  read(): Promise<StoredTokens>;
  /**
   * Undefined while another claim lasts, or where `version` is not the stored one any more. Writes no version. A claim
   * ends by itself when its process is gone, at once or after a minute.
   */
  claim(version: string): Promise<RenewalClaim | undefined>;
  /**
   * Stores the tokens in place of `version` (undefined: where nothing was stored), durably and as a whole. Returns the
   * new version, or undefined where another value is stored: then nothing is changed.
   */
  replace(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined>;
}
