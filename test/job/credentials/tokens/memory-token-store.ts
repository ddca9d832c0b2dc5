// The token store's twin in memory. Several stores on one `TokenPlace` are like several processes. And tokens for tests.

import {
  type OAuthTokens,
  parseTokens,
  type RenewalClaim,
  type StoredTokens,
  type TokenStore,
  tokensText,
} from "../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Clock } from "../../../../lambdas/job/runtime/clock.ts";

const EXPIRES_AFTER_MS = 60_000;

/** What all stores of one place share. */
export class TokenPlace {
  text: string | undefined;
  /** How often a value was stored. */
  writes = 0;
  claim: { readonly atMs: number } | undefined;

  constructor(tokens?: OAuthTokens) {
    if (tokens) this.store(tokensText(tokens));
  }

  get version(): string | undefined {
    return this.text === undefined ? undefined : `v${this.writes}`;
  }

  get tokens(): OAuthTokens | undefined {
    return this.text === undefined ? undefined : parseTokens(this.text);
  }

  store(text: string): void {
    this.text = text;
    this.writes += 1;
  }
}

export class MemoryTokenStore implements TokenStore {
  readonly place = "the place in memory";
  readonly isCreatedEmpty: boolean;
  readonly #place: TokenPlace;
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(place: TokenPlace, clock: Pick<Clock, "monotonicMs">, isCreatedEmpty = false) {
    this.#place = place;
    this.#clock = clock;
    this.isCreatedEmpty = isCreatedEmpty;
  }

  async read(): Promise<StoredTokens> {
    const { version, tokens } = this.#place;
    return version === undefined ? { version, tokens: undefined } : { version, tokens };
  }

  async claim(version: string): Promise<RenewalClaim | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const place = this.#place;
    if (place.claim && nowMs - place.claim.atMs < EXPIRES_AFTER_MS) return undefined;
    if (place.version !== version) return undefined;
    const claim = { atMs: nowMs };
    place.claim = claim;
    return {
      get isHeld() {
        return place.claim === claim;
      },
      release: async () => {
        if (place.claim === claim) place.claim = undefined;
      },
    };
  }

  async replace(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined> {
    if (this.#place.version !== version) return undefined;
    this.#place.store(tokensText(tokens));
    return this.#place.version;
  }
}

export function sampleTokens(name: string, changes: Partial<OAuthTokens> = {}): OAuthTokens {
  return {
    format: 1,
    client_id: "brand-client",
    access_token: `access-${name}`,
    refresh_token: `refresh-${name}`,
    token_type: "Bearer",
    obtained_at: "2026-11-21T06:00:00.000Z",
    ...changes,
  };
}
