// An identity provider and the stored tokens of one authorization that a person gave there.

import type { OAuthTokens } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import type { OAuthOptions } from "../../../../../lambdas/job/service/auth/oauth/by-tokens.ts";
import { IdentityProvider } from "../../../../simulator/identity/identity-provider.ts";
import type { IdentityChange } from "../../../../simulator/identity/identity-settings.ts";
import { MemoryTokenStore, TokenPlace } from "../../../credentials/tokens/memory-token-store.ts";

export const AUTHORIZE = ": authorize.";

export class Authorized implements AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly place: TokenPlace;
  readonly clock: Clock;

  private constructor(provider: IdentityProvider, clock: Clock) {
    this.provider = provider;
    this.clock = clock;
    this.place = new TokenPlace(issuedTokens(provider));
  }

  static async start(clock: Clock, identity: IdentityChange = {}): Promise<Authorized> {
    return new Authorized(await IdentityProvider.start({ clock, ...identity }), clock);
  }

  /** What one process is given. */
  options(): OAuthOptions {
    return {
      authUrl: this.provider.url,
      tokens: new MemoryTokenStore(this.place, this.clock),
      tokensVersion: this.place.version ?? "none",
    };
  }

  /** The person authorizes once more. */
  authorizeAgain(): void {
    this.place.store(JSON.stringify(issuedTokens(this.provider)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider.stop();
  }
}

/** As `authorize` stores them; without an end, so that only a 401 tells it. */
function issuedTokens(provider: IdentityProvider): OAuthTokens {
  const { accessToken, refreshToken } = provider.authorize();
  return {
    format: 1,
    client_id: provider.credentials.client_id,
    access_token: accessToken,
    refresh_token: refreshToken ?? "",
    token_type: "Bearer",
    obtained_at: "2026-11-21T06:00:00.000Z",
  };
}
