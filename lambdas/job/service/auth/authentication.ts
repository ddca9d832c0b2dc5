// The authenticator for the method that the credentials name, and what belongs to it.

import type { PasswordCredentials, ServiceCredentials } from "../../credentials/credentials.ts";
import type { OAuthTokens, TokenStore } from "../../credentials/tokens/token-store.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { type Proxies, proxyFor } from "../../network/proxies.ts";
import type { Clock } from "../../runtime/clock.ts";
import { abortable } from "../../runtime/on-abort.ts";
import { parseAuthUrl } from "../../settings/addresses.ts";
import type { Transport } from "../http/transport.ts";
import { UndiciTransport } from "../http/undici-transport.ts";
import type { KnownSecrets } from "../known-secrets.ts";
import type { Authenticator, Authorization } from "../requests/authenticator.ts";
import { CurrentCredentials } from "./current-credentials.ts";
import { TokenEndpoint } from "./oauth/token-endpoint.ts";
import { TokenRotation } from "./oauth/token-rotation.ts";
import { type Proof, RenewingAuthenticator } from "./renewing-authenticator.ts";
import { SessionAuthenticator, type SessionLoginOptions, sessionLogin } from "./session-authenticator.ts";

/** What the method `oauth` needs beside the credentials. */
export interface OAuthOptions {
  readonly authUrl: string;
  readonly tokens: TokenStore;
  /** Of the stored tokens, as they were when the service was opened. */
  readonly tokensVersion: string;
  /** The command that authorizes again. */
  readonly authorize: string;
  readonly transport?: Transport;
}

interface AuthenticationOptions extends Omit<SessionLoginOptions, "credentials"> {
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
  return {
    authenticator:
      first.method === "basic"
        ? new BasicAuthenticator(baseUrl, credentials)
        : new SessionAuthenticator(sessionLogin({ ...options, credentials })),
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
  const { baseUrl, clock, counters, headers, logger, oauth, proxies, readCredentials, versionOf } = options;
  if (oauth === undefined)
    throw new TypeError("the method oauth needs the identity provider and a token store");
  const authUrl = parseAuthUrl(oauth.authUrl);
  const proxy = proxies && proxyFor(authUrl, proxies);
  const transport = options.secrets.watching(
    oauth.transport ?? new UndiciTransport({ connections: 1, timeoutMs: TOKEN_TIMEOUT_MS, proxy }),
  );
  const credentials = new CurrentCredentials(first, readCredentials, logger);
  const endpoint = new TokenEndpoint({ authUrl, transport, headers, now: () => clock.now(), counters });
  const { tokens: store, tokensVersion, authorize } = oauth;
  const shared = { credentials, counters, clock, logger };
  const rotation = new TokenRotation({ ...shared, store, storedVersion: tokensVersion, endpoint, authorize });
  const authenticator = new OAuthAuthenticator(baseUrl, rotation, clock);
  return {
    authenticator,
    get version() {
      const version = versionOf?.(credentials.current);
      return version && `${version} ${rotation.version}`;
    },
    close: async () => {
      await authenticator.close();
      await transport.close();
    },
  };
}

/** HTTP Basic (docs/service-interface.md §4.2): the same header on every request, no login call. */
class BasicAuthenticator implements Authenticator {
  readonly #baseUrl: URL;
  readonly #credentials: CurrentCredentials<PasswordCredentials>;
  /** One for all requests. */
  #authorization: Authorization | undefined;

  constructor(baseUrl: URL, credentials: CurrentCredentials<PasswordCredentials>) {
    this.#baseUrl = baseUrl;
    this.#credentials = credentials;
  }

  authorize(): Authorization {
    if (this.#authorization?.isCurrent !== true) this.#authorization = this.#made(this.#credentials.current);
    return this.#authorization;
  }

  #made(credentials: PasswordCredentials): Authorization {
    const { origin } = this.#baseUrl;
    const isCurrent = (): boolean => this.#credentials.current === credentials;
    // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
    const token = Buffer.from(`${credentials.email}:${credentials.password}`, "utf8").toString("base64");
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => (url.origin === origin ? { authorization: `Basic ${token}` } : {}),
      settle: ({ kind }) => (kind === "refused" ? this.#after(credentials) : undefined),
    };
  }

  async #after(refused: PasswordCredentials): Promise<Authorization> {
    if (await this.#credentials.haveChangedSince(refused)) return this.authorize();
    throw unauthenticated(
      "basic",
      "The service refused the e-mail address and password (status 401, method basic). Check the credentials; if they " +
        "are right, ask the service's operator whether the account is disabled, or use the method session.",
    );
  }
}

/** OAuth 2.0 (docs/service-interface.md §4.3): an access token on every request, renewed when it ends or is refused. */
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
    this.#tokens = new RenewingAuthenticator({
      renew: (signal) => this.#renew(signal),
      unauthenticated: () =>
        unauthenticated(
          "oauth",
          "The identity provider renewed the access token, but the service answered the next request with 401. Check that " +
            "--auth-url and --base-url belong to the same service, and that the person who authorized may use the interface.",
        ),
    });
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
    const before = this.#current ?? (await this.#rotation.read());
    const isUsable = this.#current === undefined && !isNearItsEnd(before, this.#clock.now());
    const { tokens, isRenewed } = isUsable
      ? { tokens: before, isRenewed: false }
      : await this.#rotation.renew(before, this.#closing.signal);
    this.#current = tokens;
    return this.#proof(tokens, isRenewed);
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

function unauthenticated(method: "basic" | "oauth", message: string): SyncError {
  return new SyncError("UNAUTHENTICATED", message, { fields: { method, status: 401 } });
}
