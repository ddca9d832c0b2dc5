// Every request that the simulated identity provider saw, and what tests ask about them.

import type { IdentityTarget } from "./identity-faults.ts";

export interface LoggedIdentityRequest {
  /** From 1, in the order of arrival. */
  readonly n: number;
  /** Undefined: no endpoint of the provider, or a token request without a known grant. */
  readonly target: IdentityTarget | undefined;
  readonly method: string;
  readonly path: string;
  /** As sent: parameters of the address, or of the form. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly arrivedAtMs: number;
  /** Undefined while there is none, and where the connection broke before it. */
  status?: number;
}

export interface IdentityCounts {
  readonly requests: number;
  /** Token requests, whatever their response. */
  readonly codeExchanges: number;
  readonly refreshes: number;
  /** Refreshes that were answered with 200. */
  readonly refreshesAccepted: number;
  /** Spent refresh tokens that came back. */
  readonly spentTokensSeen: number;
  readonly revokedFamilies: number;
  /** The most token requests that were in flight at once. */
  readonly maxTokenRequestsInFlight: number;
}

export class IdentityLog {
  #entries: LoggedIdentityRequest[] = [];
  #inFlight = 0;
  #maxInFlight = 0;

  get entries(): readonly Readonly<LoggedIdentityRequest>[] {
    return this.#entries;
  }

  arrive(seen: Omit<LoggedIdentityRequest, "n" | "status">): LoggedIdentityRequest {
    const entry = { ...seen, n: this.#entries.length + 1 };
    this.#entries.push(entry);
    if (isTokenRequest(entry)) this.#inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
    return entry;
  }

  leave(entry: LoggedIdentityRequest): void {
    if (isTokenRequest(entry)) this.#inFlight -= 1;
  }

  reset(): void {
    this.#entries = [];
    this.#maxInFlight = this.#inFlight;
  }

  counts(granted: Pick<IdentityCounts, "spentTokensSeen" | "revokedFamilies">): IdentityCounts {
    const count = (test: (entry: LoggedIdentityRequest) => boolean): number =>
      this.#entries.filter(test).length;
    return {
      requests: this.#entries.length,
      codeExchanges: count(({ target }) => target === "authorization_code"),
      refreshes: count(({ target }) => target === "refresh_token"),
      refreshesAccepted: count(({ target, status }) => target === "refresh_token" && status === 200),
      spentTokensSeen: granted.spentTokensSeen,
      revokedFamilies: granted.revokedFamilies,
      maxTokenRequestsInFlight: this.#maxInFlight,
    };
  }
}

const isTokenRequest = ({ path }: LoggedIdentityRequest): boolean => path === "/oauth/token";
