// Renews the tokens of an authorization so that none is lost: one process at a time, and stored before their first use.

import type { CurrentCredentials, OAuthCredentials } from "../../../credentials/credentials.ts";
import type { OAuthTokens, RenewalClaim, TokenStore } from "../../../credentials/tokens/token-store.ts";
import { advise, command } from "../../../errors/advice.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/logger.ts";
import { keepsTrying } from "../../requests/connection-problem.ts";
import { requestName } from "../../requests/failure.ts";
import { mayPass } from "../../requests/retry.ts";
import type { ServiceCounts } from "../../requests/sender.ts";
import { authorizationExpired, type PutOff, putOffPauseMs, type TokenEndpoint } from "./token-endpoint.ts";

interface TokenRotationOptions {
  readonly store: TokenStore;
  /** Of what was stored when the service was opened; undefined for nothing. */
  readonly storedVersion: string | undefined;
  readonly endpoint: TokenEndpoint;
  readonly credentials: CurrentCredentials<OAuthCredentials>;
  readonly counts: ServiceCounts;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "info" | "debug">;
  /** By the monotonic clock: until then a provider that puts requests off is asked again and again. */
  readonly keepTryingUntilMs?: number | undefined;
}

export interface RotatedTokens {
  readonly tokens: OAuthTokens;
  /** False where another process had renewed them. */
  readonly isRenewed: boolean;
}

interface Stored {
  readonly version: string;
  readonly tokens: OAuthTokens;
}

/** No retry storm: an identity provider may revoke everything that a spent token led to. */
const REQUESTS = 3;

/** A provider accepts a spent token for some seconds at best. Later its repetition would only be a wrong one. */
const REPEATED_FOR_MS = 10_000;
const PAUSES_MS = [500, 2_000];

/** Between two requests to a provider that keeps putting them off: each takes the claim again. */
const PUT_OFF_PAUSE_MS = 20_000;

/** Longer than any claim lasts. */
const LONGEST_WAIT_MS = 90_000;
const POLL_MS = 500;

export class TokenRotation {
  readonly #options: TokenRotationOptions;
  #version: string | undefined;
  #saysThatItTries = false;

  constructor(options: TokenRotationOptions) {
    this.#options = options;
    this.#version = options.storedVersion;
  }

  /** The version of the tokens that were read or stored last. */
  get version(): string {
    return this.#version ?? "none";
  }

  /** The stored tokens. Throws `AUTHORIZATION_EXPIRED` where there are none that this client may use. */
  async read(): Promise<OAuthTokens> {
    return (await this.#read()).tokens;
  }

  /**
   * Others than `spent`, stored already. A request once sent is finished and its tokens are stored, whatever `stop` says.
   * Throws `AUTHORIZATION_EXPIRED`, `CREDENTIALS_INVALID`, `SERVICE_UNAVAILABLE`, `THROTTLED`, `UNEXPECTED_RESPONSE`,
   * `STORE_FAILED`, or the reason of `stop`.
   */
  async renew(spent: OAuthTokens, stop: AbortSignal): Promise<RotatedTokens> {
    const { store, clock, logger } = this.#options;
    let untilMs = clock.monotonicMs() + LONGEST_WAIT_MS;
    let timesPutOff = 0;
    for (;;) {
      stop.throwIfAborted();
      const stored = await this.#read();
      if (stored.tokens.access_token !== spent.access_token)
        return { tokens: stored.tokens, isRenewed: false };
      const claim = await store.claim(stored.version);
      if (claim !== undefined) {
        const rotated = await this.#renewClaimed(stored, claim, timesPutOff);
        if ("tokens" in rotated) return rotated;
        timesPutOff += 1;
        await clock.sleep(this.#pauseMs(rotated, timesPutOff), stop);
        untilMs = clock.monotonicMs() + LONGEST_WAIT_MS;
        continue;
      }
      if (clock.monotonicMs() >= untilMs) throw stillClaimed(store.place);
      logger.debug("another process renews the tokens: waiting for the new ones");
      await clock.sleep(POLL_MS, stop);
    }
  }

  /** How long to wait for a provider that has put a request off. Throws its error after the last one. */
  #pauseMs(answer: PutOff, times: number): number {
    const { endpoint, counts, clock, logger, keepTryingUntilMs = 0 } = this.#options;
    const { failure } = answer;
    const keepsOn = !endpoint.hasAnswered && mayPass(failure, "POST");
    const leftMs = keepsOn ? keepTryingUntilMs - clock.monotonicMs() : 0;
    const usualMs = putOffPauseMs(answer, leftMs > 0 ? 1 : times);
    if (usualMs === undefined) throw orOver(answer.error(times));
    counts.retries += 1;
    if (leftMs <= 0) return usualMs;
    if (!this.#saysThatItTries) logger.info(keepsTrying(requestName("POST", endpoint.url), failure, leftMs));
    this.#saysThatItTries = true;
    return Math.min(leftMs, Math.max(usualMs, PUT_OFF_PAUSE_MS));
  }

  /** A request that was put off has spent nothing: another claim may send it later. */
  async #renewClaimed(
    claimed: Stored,
    claim: RenewalClaim,
    timesPutOff: number,
  ): Promise<RotatedTokens | PutOff> {
    try {
      // Between the reading and the claim another process may have finished a renewal.
      const stored = await this.#read();
      if (stored.tokens.access_token !== claimed.tokens.access_token)
        return { tokens: stored.tokens, isRenewed: false };
      if (timesPutOff === 0) this.#options.counts.logins += 1;
      return await this.#rotate(stored, claim);
    } finally {
      await this.#release(claim);
    }
  }

  /** A claim that is not released ends by itself: that hides neither new tokens nor why there are none. */
  async #release(claim: RenewalClaim): Promise<void> {
    try {
      await claim.release();
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      this.#options.logger.debug(`the claim on the tokens lasts for another minute: ${error.message}`);
    }
  }

  async #rotate(stored: Stored, claim: RenewalClaim): Promise<RotatedTokens | PutOff> {
    const { endpoint, credentials, counts, clock } = this.#options;
    const beganAtMs = clock.monotonicMs();
    for (let requests = 1; ; requests += 1) {
      if (!claim.isHeld) throw stillClaimed(this.#options.store.place);
      const { refresh_token, renewed } = stored.tokens;
      const grant = { grant_type: "refresh_token", refresh_token };
      const answer = await endpoint.ask(credentials.current, grant, renewed);
      if (requests === 1 && answer.kind === "put-off") return answer;
      if (answer.kind === "tokens") return this.#store(stored, answer.tokens);
      if (answer.kind === "over") return this.#refused(stored, answer.status);
      // The same token is then worth another request.
      if (answer.kind === "lost" || answer.kind === "put-off") {
        const pauseMs = PAUSES_MS[requests - 1] ?? 0;
        const isLate = clock.monotonicMs() + pauseMs - beganAtMs > REPEATED_FOR_MS;
        if (requests >= REQUESTS || isLate) throw orOver(answer.error(requests));
        counts.retries += 1;
        await clock.sleep(pauseMs);
        continue;
      }
      if (answer.kind === "wrong-client") {
        if (requests < REQUESTS && (await credentials.haveChanged())) continue;
      } else if (answer.refreshToken !== undefined) {
        // An answer without a usable access token may have spent the refresh token, and hold the next one.
        await storeRotated(this.#options, stored, { ...stored.tokens, refresh_token: answer.refreshToken });
        throw answer.error(requests);
      }
      throw orOver(answer.error(requests));
    }
  }

  async #store(stored: Stored, tokens: OAuthTokens): Promise<RotatedTokens> {
    const kept = await storeRotated(this.#options, stored, tokens);
    this.#version = kept.version;
    this.#options.logger.info("renewed the access token");
    return { tokens: kept.tokens, isRenewed: kept.tokens === tokens };
  }

  /** Another process may have stored newer tokens while its claim was believed to be over. */
  async #refused({ tokens: spent }: Stored, status: number): Promise<RotatedTokens> {
    const { tokens } = await this.#read();
    if (tokens.refresh_token !== spent.refresh_token) return { tokens, isRenewed: false };
    throw authorizationExpired(
      `The identity provider does not accept the stored refresh token any more: it has expired, was revoked, or was spent by a renewal whose answer never came.`,
      { status },
    );
  }

  async #read(): Promise<Stored> {
    const { store, credentials } = this.#options;
    const { version, tokens } = await store.read();
    this.#version = version;
    const { place } = store;
    if (version === undefined) throw authorizationExpired(`There are no tokens in ${place} yet.`);
    if (tokens?.client_id === credentials.current.client_id) return { version, tokens };
    const why =
      tokens === undefined
        ? `There is something other than tokens in ${place}.`
        : `The tokens in ${place} belong to another client_id than the credentials have.`;
    throw authorizationExpired(why);
  }
}

/** A refusal may mean the token without naming it. Where no answer came, nothing is known of the token. */
function orOver(error: SyncError): SyncError {
  return typeof error.fields["status"] === "number"
    ? error.with({
        next: advise`Either that is the reason, or the authorization is over: ${command("authorize")}.`,
      })
    : error;
}

function stillClaimed(place: string): SyncError {
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `Another process has been renewing the tokens in ${place} for more than a minute.`,
    { fields: { method: "oauth" }, next: "End it if it hangs, then run again." },
  );
}

const ATTEMPTS = 5;
const PAUSE_MS = 1_000;

/**
 * Puts `rotated` in place of `spent`, and returns what is stored then: others, where a person has authorized
 * again meanwhile. The old ones are spent, so it throws the store's error only after several attempts.
 */
export async function storeRotated(
  { store, clock }: { readonly store: TokenStore; readonly clock: Pick<Clock, "sleep"> },
  spent: Stored,
  rotated: OAuthTokens,
): Promise<Stored> {
  let version: string | undefined = spent.version;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const stored = await store.replace(version, rotated);
      if (stored !== undefined) return { version: stored, tokens: rotated };
      const other = await store.read();
      // The same tokens as a new version, or none that are of use: ours are the newest.
      if (other.tokens && other.tokens.refresh_token !== spent.tokens.refresh_token) return other;
      version = other.version;
      if (attempt >= ATTEMPTS) throw changing(store.place);
    } catch (error) {
      if (!(error instanceof SyncError) || attempt >= ATTEMPTS) throw error;
      await clock.sleep(PAUSE_MS);
    }
  }
}

function changing(place: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `The renewed tokens could not be stored in ${place}, because other processes changed it ${ATTEMPTS} times in the meantime.`,
    { next: "Stop them, and start again." },
  );
}
