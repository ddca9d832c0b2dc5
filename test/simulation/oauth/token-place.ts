// Where the tokens of a world are stored, and what each process sees of it: the twin of a file and of a secret.

import type {
  OAuthTokens,
  RenewalClaim,
  StoredTokens,
  TokenStore,
} from "../../../lambdas/job/credentials/tokens/token-store.ts";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import type { Job } from "../versions/job.ts";

/** A claim on a secret ends after so long. One on a file ends with its process as well. */
const CLAIM_MS = 60_000;

interface Claim {
  readonly by: SimProcess;
  readonly atMs: number;
}

export class TokenPlace {
  readonly #now: () => number;
  readonly #isFile: boolean;
  readonly #accessTokens = new Set<string>();
  #tokens: OAuthTokens;
  #version = 1;
  #claim: Claim | undefined;

  constructor(tokens: OAuthTokens, now: () => number, isFile: boolean) {
    this.#tokens = tokens;
    this.#now = now;
    this.#isFile = isFile;
    this.#accessTokens.add(tokens.access_token);
  }

  get refreshToken(): string {
    return this.#tokens.refresh_token;
  }

  /** Whether it was stored at any time. */
  hadAccessToken(accessToken: string): boolean {
    return this.#accessTokens.has(accessToken);
  }

  store(tokens: OAuthTokens): void {
    this.#tokens = tokens;
    this.#version += 1;
    this.#accessTokens.add(tokens.access_token);
  }

  seenBy(process: SimProcess): TokenStore {
    const call = <T>(what: string, effect: () => T, isRead = false): Promise<T> =>
      process.call("credentials", what, effect, FAILURES, isRead);
    return {
      place: "the simulated place",
      isCreatedEmpty: false,
      read: () =>
        call("reads the tokens", (): StoredTokens => ({ version: this.#named, tokens: this.#tokens }), true),
      claim: (version) => call("claims the tokens", () => this.#claimFor(process, version)),
      replace: (version, tokens) =>
        call("replaces the tokens", () => {
          if (version !== this.#named) return undefined;
          this.store(tokens);
          return this.#named;
        }),
    };
  }

  get #named(): string {
    return `tokens${this.#version}`;
  }

  #claimFor(process: SimProcess, version: string): RenewalClaim | undefined {
    if (this.#claim && this.#isAlive(this.#claim)) return undefined;
    if (version !== this.#named) return undefined;
    const claim: Claim = { by: process, atMs: this.#now() };
    this.#claim = claim;
    const isHeld = (): boolean => this.#claim === claim && this.#isAlive(claim);
    return {
      get isHeld() {
        return isHeld();
      },
      release: async () => {
        if (this.#claim === claim) this.#claim = undefined;
      },
    };
  }

  #isAlive({ by, atMs }: Claim): boolean {
    if (this.#isFile) return !by.isDead;
    return this.#now() - atMs < CLAIM_MS;
  }
}

const failed = ({ SyncError }: Job): Error =>
  new SyncError("STORE_FAILED", "The simulated place of the tokens failed.");
const FAILURES: CallFailures = { refused: failed, lost: failed };
