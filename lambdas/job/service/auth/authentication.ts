// The authenticator for the method that the credentials name, and what belongs to it.

import type { PasswordCredentials, ServiceCredentials } from "../../credentials/credentials.ts";
import type { TokenStore } from "../../credentials/tokens/token-store.ts";
import { type Proxies, proxyFor } from "../../network/proxies.ts";
import { parseAuthUrl } from "../../settings/auth-url.ts";
import type { Transport } from "../http/transport.ts";
import { UndiciTransport } from "../http/undici-transport.ts";
import type { KnownSecrets } from "../known-secrets.ts";
import type { Authenticator } from "../requests/authenticator.ts";
import { BasicAuthenticator } from "./basic-authenticator.ts";
import { CurrentCredentials } from "./current-credentials.ts";
import { OAuthAuthenticator } from "./oauth/oauth-authenticator.ts";
import { TokenEndpoint } from "./oauth/token-endpoint.ts";
import { TokenRotation } from "./oauth/token-rotation.ts";
import { SessionAuthenticator } from "./session-authenticator.ts";
import { type SessionLoginOptions, sessionLogin } from "./session-login.ts";

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

export interface AuthenticationOptions extends Omit<SessionLoginOptions, "credentials"> {
  readonly credentials: ServiceCredentials;
  readonly readCredentials: (() => Promise<ServiceCredentials>) | undefined;
  readonly versionOf: ((credentials: ServiceCredentials) => string | undefined) | undefined;
  readonly oauth: OAuthOptions | undefined;
  readonly proxies: Proxies | undefined;
  readonly secrets: KnownSecrets;
}

export interface Authentication {
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
