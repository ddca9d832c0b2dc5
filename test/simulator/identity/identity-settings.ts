// How a simulated identity provider behaves: what tests choose, and what holds where they choose nothing.

import { CANARY } from "../account.ts";
import type { IdentityFaultRule } from "./identity-faults.ts";

interface RegisteredClient {
  readonly id: string;
  readonly secret: string;
  /** Compared as text (RFC 9700 §2.1). */
  readonly redirectUris: readonly string[];
}

export interface AccessTokenOptions {
  /** Default: one hour. */
  readonly lifetimeMs?: number;
  /** Requests to the service that one token is good for. */
  readonly maxRequests?: number;
  /** So long after it was issued the service does not know it yet. */
  readonly knownAfterMs?: number;
  /** A new token of the same authorization ends the older ones. */
  readonly exclusive?: boolean;
}

export interface RefreshTokenOptions {
  /**
   * `single-use` (default): each refresh gives a new refresh token and spends the old one; `same`: gives the old one
   * again; `silent`: names none, and the old one stays good.
   */
  readonly rotation?: "single-use" | "same" | "silent";
  /** How long a spent token is still taken, for clients that lost the response; default 0. */
  readonly graceMs?: number;
  /** A spent token ends its whole family (RFC 9700 §4.14.2); default true. */
  readonly revokesFamily?: boolean;
  /** Default: for ever. */
  readonly lifetimeMs?: number;
}

interface TokenResponseOptions {
  /** How the response states the lifetime; default: as a number. */
  readonly expiresIn?: "number" | "text" | "absent";
  readonly withIdToken?: boolean;
  /** Default `Bearer`. */
  readonly tokenType?: string;
  /** Members that are left out. */
  readonly without?: readonly ("access_token" | "token_type" | "refresh_token")[];
  /** Makes the body that is sent. */
  readonly raw?: (body: string) => string;
}

/** What may change while the identity provider runs. */
export interface IdentitySettings {
  readonly client: RegisteredClient;
  /** Who may log in on the provider's own page. */
  readonly user: { readonly email: string; readonly password: string };
  readonly accessToken: AccessTokenOptions;
  readonly refreshToken: RefreshTokenOptions;
  readonly tokenResponse: TokenResponseOptions;
  /** Default: one minute (RFC 6749 §4.1.2: at most ten). */
  readonly codeLifetimeMs: number;
  /** `ignores`: the provider knows neither `state` nor PKCE, nor the redirect address at the exchange. */
  readonly extras: "checks" | "ignores";
  /** Between a request and its response. */
  readonly latencyMs: number;
  readonly faults: readonly IdentityFaultRule[];
}

/** Client and user keep what is not named; each other setting is replaced whole. */
export type IdentityChange = Partial<Omit<IdentitySettings, "client" | "user">> & {
  readonly client?: Partial<RegisteredClient>;
  readonly user?: Partial<IdentitySettings["user"]>;
};

export const DEFAULT_IDENTITY: IdentitySettings = {
  client: {
    id: "brand-client",
    secret: CANARY.clientSecret,
    redirectUris: ["http://127.0.0.1:8912/callback"],
  },
  user: { email: CANARY.email, password: CANARY.password },
  accessToken: {},
  refreshToken: {},
  tokenResponse: {},
  codeLifetimeMs: 60_000,
  extras: "checks",
  latencyMs: 0,
  faults: [],
};

export const changedIdentity = (settings: IdentitySettings, change: IdentityChange): IdentitySettings => ({
  ...settings,
  ...change,
  client: { ...settings.client, ...change.client },
  user: { ...settings.user, ...change.user },
});
