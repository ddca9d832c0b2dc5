// OAuth 2.0 (docs/service-interface.md §4.3): an access token on every request, renewed when it ends or is refused.

import type { CurrentCredentials, OAuthCredentials } from "../../../credentials/credentials.ts";
import type { OAuthTokens, TokenStore } from "../../../credentials/tokens/token-store.ts";
import { advise, setting } from "../../../errors/advice.ts";
import { type Proxies, proxyFor } from "../../../network/proxies.ts";
import { abortable } from "../../../runtime/on-abort.ts";
import type { Transport } from "../../http/transport.ts";
import { UndiciTransport } from "../../http/undici-transport.ts";
import { type AuthenticationMethod, NEW_PROOF_PAUSES_MS, type Proof } from "../../requests/authenticator.ts";
import type { Sender, SenderOptions } from "../../requests/sender.ts";
import { TokenEndpoint } from "./token-endpoint.ts";
import { TokenRotation } from "./token-rotation.ts";

/** What the method `oauth` needs beside the credentials. */
export interface OAuthOptions {
  /** The address of the authorization server in its canonical form. */
  readonly authUrl: string;
  readonly tokens: TokenStore;
  /** Of the stored tokens, as they were when the service was opened; undefined where there were none. */
  readonly tokensVersion: string | undefined;
}

interface TokenPorts extends Pick<SenderOptions, "headers" | "clock" | "logger" | "keepTryingUntilMs"> {
  readonly sender: Pick<Sender, "counts">;
  readonly proxies?: Proxies | undefined;
  /** In place of one of its own. */
  readonly transport?: Transport | undefined;
}

/** A provider that takes longer has accepted the token that was spent for as long as it ever will. */
const TOKEN_TIMEOUT_MS = 8_000;

/** Sends nothing. */
export function byTokens(
  credentials: CurrentCredentials<OAuthCredentials>,
  options: OAuthOptions | undefined,
  { headers, sender: { counts }, clock, logger, keepTryingUntilMs, proxies, ...ports }: TokenPorts,
): AuthenticationMethod {
  if (options === undefined)
    throw new TypeError("the method oauth needs the identity provider and a token store");
  const { tokens: store, tokensVersion } = options;
  const authUrl = new URL(options.authUrl);
  const proxy = proxies && proxyFor(authUrl, proxies);
  const transport =
    ports.transport ?? new UndiciTransport({ connections: 1, timeoutMs: TOKEN_TIMEOUT_MS, proxy });
  const endpoint = new TokenEndpoint({ authUrl, transport, headers, now: () => clock.now(), counts });
  const shared = { credentials, counts, clock, logger, keepTryingUntilMs };
  const rotation = new TokenRotation({ ...shared, store, storedVersion: tokensVersion, endpoint });
  const closing = new AbortController();
  let current: OAuthTokens | undefined;
  let renewal: Promise<Proof> | undefined;
  const next = async (): Promise<Proof> => {
    const before = current ?? (await rotation.read());
    const isUsable = current === undefined && !isNearItsEnd(before, clock.now());
    const { tokens, isRenewed } = isUsable
      ? { tokens: before, isRenewed: false }
      : await rotation.renew(before, closing.signal);
    current = tokens;
    return {
      get isExpired() {
        return isNearItsEnd(tokens, clock.now());
      },
      isLastTry: isRenewed,
      ...(isUsable ? { isStored: true } : { pausesMs: NEW_PROOF_PAUSES_MS }),
      headers: () => ({ authorization: `Bearer ${tokens.access_token}` }),
    };
  };
  return {
    credentials,
    tokensVersion: () => rotation.version,
    unauthenticated: {
      what: "The identity provider renewed the access token, but the service answered the next requests with 401.",
      next: "Check that the person who authorized may use the interface.",
      ifNew: advise`If this address has never worked, check that ${setting("authUrl")} and ${setting("baseUrl")} belong to the same service.`,
    },
    // A request that stops waiting does not stop the renewal, which the next one joins.
    renew: (signal) => {
      renewal ??= next().finally(() => {
        renewal = undefined;
      });
      return abortable(renewal, signal);
    },
    /** Waits for a renewal whose request was sent: its answer may hold the only refresh token that is valid. */
    close: async () => {
      closing.abort(new Error("the service is closed"));
      await renewal?.catch(() => undefined);
      await transport.close();
    },
  };
}

/** From a tenth of its life before its end, at most a minute, an access token is renewed before its next use. */
export function isNearItsEnd(
  { obtained_at, expires_at }: Pick<OAuthTokens, "obtained_at" | "expires_at">,
  nowMs: number,
): boolean {
  if (expires_at === undefined) return false;
  const endMs = Date.parse(expires_at);
  const marginMs = Math.min(60_000, Math.max(0, endMs - Date.parse(obtained_at)) / 10);
  return nowMs >= endMs - marginMs;
}
