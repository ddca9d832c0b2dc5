// OAuth 2.0 (docs/service-interface.md §4.3): an access token on every request, renewed when it ends or is refused.

import type { OAuthTokens } from "../../../credentials/tokens/token-store.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { abortable } from "../../../runtime/on-abort.ts";
import type { Authenticator, Authorization } from "../../requests/authenticator.ts";
import { type Proof, RenewingAuthenticator } from "../renewing-authenticator.ts";
import { isNearItsEnd } from "./granted-tokens.ts";
import type { RotatedTokens, TokenRotation } from "./token-rotation.ts";

export class OAuthAuthenticator implements Authenticator {
  readonly #baseUrl: URL;
  readonly #rotation: TokenRotation;
  readonly #clock: Pick<Clock, "now">;
  readonly #tokens: RenewingAuthenticator;
  readonly #closing = new AbortController();
  #current: OAuthTokens | undefined;
  #renewal: Promise<Proof> | undefined;

  constructor(baseUrl: URL, rotation: TokenRotation, clock: Pick<Clock, "now">) {
    this.#baseUrl = baseUrl;
    this.#rotation = rotation;
    this.#clock = clock;
    this.#tokens = new RenewingAuthenticator({ renew: (signal) => this.#renew(signal), unauthenticated });
  }

  authorize(signal?: AbortSignal): Authorization | Promise<Authorization> {
    return this.#tokens.authorize(signal);
  }

  /** Waits for a renewal whose request was sent: its answer may hold the only refresh token that is valid. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the service is closed"));
    await this.#renewal?.catch(() => undefined);
  }

  /** A request that stops waiting does not stop the renewal, which the next one joins. */
  #renew(signal: AbortSignal | undefined): Promise<Proof> {
    this.#renewal ??= this.#next().finally(() => {
      this.#renewal = undefined;
    });
    return abortable(this.#renewal, signal);
  }

  async #next(): Promise<Proof> {
    const { tokens, isRenewed } =
      this.#current === undefined
        ? await this.#first()
        : await this.#rotation.renew(this.#current, this.#closing.signal);
    this.#current = tokens;
    return this.#proof(tokens, isRenewed);
  }

  async #first(): Promise<RotatedTokens> {
    const tokens = await this.#rotation.read();
    if (!isNearItsEnd(tokens, this.#clock.now())) return { tokens, isRenewed: false };
    return this.#rotation.renew(tokens, this.#closing.signal);
  }

  #proof(tokens: OAuthTokens, isRenewed: boolean): Proof {
    const { origin } = this.#baseUrl;
    const clock = this.#clock;
    return {
      get isExpired() {
        return isNearItsEnd(tokens, clock.now());
      },
      isLastTry: isRenewed,
      headers: (url) => (url.origin === origin ? { authorization: `Bearer ${tokens.access_token}` } : {}),
      keep: () => undefined,
    };
  }
}

function unauthenticated(): SyncError {
  return new SyncError(
    "UNAUTHENTICATED",
    "The identity provider renewed the access token, but the service answered the next request with 401. Check that " +
      "--auth-url and --base-url belong to the same service, and that the person who authorized may use the interface.",
    { fields: { method: "oauth", status: 401 } },
  );
}
