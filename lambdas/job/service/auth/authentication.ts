// The authenticator for the method that the credentials name, and what belongs to it.

import type { PasswordCredentials, ServiceCredentials } from "../../credentials/credentials.ts";
import type { OAuthTokens, TokenStore } from "../../credentials/tokens/token-store.ts";
import { type Proxies, proxyFor } from "../../network/proxies.ts";
import type { Clock } from "../../runtime/clock.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Transport } from "../http/transport.ts";
import { UndiciTransport } from "../http/undici-transport.ts";
import type { KnownSecrets } from "../known-secrets.ts";
import { type AuthenticationMethod, Authenticator, type Proof } from "../requests/authenticator.ts";
import { CurrentCredentials } from "./current-credentials.ts";
import { TokenEndpoint } from "./oauth/token-endpoint.ts";
import { TokenRotation } from "./oauth/token-rotation.ts";
import { type LoginOptions, sessionMethod } from "./session.ts";

/** What the method `oauth` needs beside the credentials. */
export interface OAuthOptions {
  /** In its canonical form. */
  readonly authUrl: string;
  readonly tokens: TokenStore;
  /** Of the stored tokens, as they were when the service was opened. */
  readonly tokensVersion: string;
  /** The command that authorizes again. */
  readonly authorize: string;
  readonly transport?: Transport;
}

interface AuthenticationOptions extends LoginOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: ServiceCredentials;
  readonly readCredentials: (() => Promise<ServiceCredentials>) | undefined;
  readonly versionOf?: ((credentials: ServiceCredentials) => string | undefined) | undefined;
  readonly oauth?: OAuthOptions | undefined;
  readonly proxies?: Proxies;
  readonly secrets: KnownSecrets;
}

interface Authentication {
  readonly authenticator: Authenticator;
  /** Of what is sent now; undefined where it has no versions. */
  readonly version: string | undefined;
  close(): Promise<void>;
}

/** A provider that takes longer has accepted the token that was spent for as long as it ever will. */
const TOKEN_TIMEOUT_MS = 8_000;

/** Sends nothing. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  return options.credentials.method === "oauth"
    ? byTokens(options, options.credentials)
    : byPassword(options, options.credentials);
}

function byPassword(options: AuthenticationOptions, first: PasswordCredentials): Authentication {
  const { baseUrl, logger, readCredentials, versionOf } = options;
  const credentials = new CurrentCredentials(first, readCredentials, logger);
  const method = first.method === "basic" ? basicMethod(credentials) : sessionMethod(credentials, options);
  return {
    authenticator: new Authenticator(baseUrl, method),
    get version() {
      return versionOf?.(credentials.current);
    },
    close: async () => undefined,
  };
}

function byTokens(
  options: AuthenticationOptions,
  first: Extract<ServiceCredentials, { readonly method: "oauth" }>,
): Authentication {
  const { baseUrl, clock, headers, logger, oauth, proxies, readCredentials, versionOf } = options;
  const { counters } = options.sender;
  if (oauth === undefined)
    throw new TypeError("the method oauth needs the identity provider and a token store");
  const authUrl = new URL(oauth.authUrl);
  const proxy = proxies && proxyFor(authUrl, proxies);
  const transport = options.secrets.watching(
    oauth.transport ?? new UndiciTransport({ connections: 1, timeoutMs: TOKEN_TIMEOUT_MS, proxy }),
  );
  const credentials = new CurrentCredentials(first, readCredentials, logger);
  const endpoint = new TokenEndpoint({ authUrl, transport, headers, now: () => clock.now(), counters });
  const { tokens: store, tokensVersion, authorize } = oauth;
  const shared = { credentials, counters, clock, logger };
  const rotation = new TokenRotation({ ...shared, store, storedVersion: tokensVersion, endpoint, authorize });
  const method = oauthMethod(rotation, clock);
  return {
    authenticator: new Authenticator(baseUrl, method),
    get version() {
      const version = versionOf?.(credentials.current);
      return version && `${version} ${rotation.version}`;
    },
    close: async () => {
      await method.close();
      await transport.close();
    },
  };
}

/** HTTP Basic (docs/service-interface.md §4.2): the same header on every request, no login call. */
function basicMethod(credentials: CurrentCredentials<PasswordCredentials>): AuthenticationMethod {
  let isFirst = true;
  return {
    name: "basic",
    unauthenticated:
      "The service refused the e-mail address and password (status 401, method basic). Check the credentials; if they " +
      "are right, ask the service's operator whether the account is disabled, or use the method session.",
    renew: async () => {
      if (!isFirst && !(await credentials.haveChanged())) return undefined;
      isFirst = false;
      const { email, password } = credentials.current;
      // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
      const authorization = `Basic ${Buffer.from(`${email}:${password}`, "utf8").toString("base64")}`;
      return { isLastTry: false, headers: () => ({ authorization }) };
    },
  };
}

/** OAuth 2.0 (docs/service-interface.md §4.3): an access token on every request, renewed when it ends or is refused. */
export function oauthMethod(
  rotation: TokenRotation,
  clock: Pick<Clock, "now">,
): AuthenticationMethod & { close(): Promise<void> } {
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
      headers: () => ({ authorization: `Bearer ${tokens.access_token}` }),
    };
  };
  return {
    name: "oauth",
    unauthenticated:
      "The identity provider renewed the access token, but the service answered the next request with 401. Check that " +
      "--auth-url and --base-url belong to the same service, and that the person who authorized may use the interface.",
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
