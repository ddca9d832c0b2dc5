// What a session and an access token have in common: they are obtained once, put on every request, and renewed when refused.

import { SyncError } from "../../errors/sync-error.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Address } from "../http/transport.ts";
import type { Authenticator, Authorization } from "../requests/authenticator.ts";

/** What one renewal gives, and requests carry. */
export interface Proof {
  /** Past its time: it is renewed before its next use. */
  readonly isExpired: boolean;
  /** Whether a refusal of its first request ends the run: another renewal would give nothing better. */
  readonly isLastTry: boolean;
  headers(url: Address): Readonly<Record<string, string>>;
  /** Takes the cookies of a response. */
  keep(setCookies: readonly string[]): void;
}

interface RenewingAuthenticatorOptions {
  /** The first proof, or one in place of a refused or expired one. Called by one request at a time. */
  readonly renew: (signal: AbortSignal | undefined) => Promise<Proof>;
  /** The error for a proof that is refused although it is new. */
  readonly unauthenticated: () => SyncError;
}

interface Generation {
  readonly proof: Proof;
  /** `fresh` until one request was answered with anything but 401. */
  state: "fresh" | "accepted" | "refused";
  /** Once it is accepted: one for all requests. */
  authorization?: Authorization;
}

/** So many proofs in a row may expire before a request could try them. */
const MOST_UNTRIED = 3;

/**
 * A fresh generation is tried by one request while all others wait. The request that found the old one refused
 * is the one that tries the new one, so a request that is refused whatever the proof ends the run instead of
 * renewing for ever, and a proof that died costs one renewal however many requests were in flight.
 */
export class RenewingAuthenticator implements Authenticator {
  readonly #options: RenewingAuthenticatorOptions;
  #generation: Generation | undefined;
  /** One request renews or tries a fresh generation. */
  #isBusy = false;
  #changed = Promise.withResolvers<void>();
  #failure: SyncError | undefined;
  #untried = 0;

  constructor(options: RenewingAuthenticatorOptions) {
    this.#options = options;
  }

  authorize(signal?: AbortSignal): Authorization | Promise<Authorization> {
    const accepted = this.#failure === undefined ? this.#accepted : undefined;
    return accepted ?? this.#wait(signal);
  }

  get #accepted(): Authorization | undefined {
    const generation = this.#generation;
    if (generation?.state !== "accepted" || generation.proof.isExpired) return undefined;
    generation.authorization ??= this.#authorization(generation);
    return generation.authorization;
  }

  async #wait(signal: AbortSignal | undefined): Promise<Authorization> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const accepted = this.#accepted;
      if (accepted) return accepted;
      if (!this.#isBusy) return this.#startTrial(signal);
      await abortable(this.#changed.promise, signal);
    }
  }

  /** From here until the returned authorization is settled, no other request is sent. */
  async #startTrial(signal: AbortSignal | undefined): Promise<Authorization> {
    this.#isBusy = true;
    try {
      if (this.#generation?.state !== "fresh") {
        this.#generation = { proof: await this.#options.renew(signal), state: "fresh" };
      }
      return this.#authorization(this.#generation);
    } catch (error) {
      // Requests that wait do not repeat a renewal that failed. An aborted one says nothing about theirs.
      if (error instanceof SyncError) this.#failure = error;
      this.#endTrial();
      throw error;
    }
  }

  #endTrial(): void {
    this.#isBusy = false;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #authorization(generation: Generation): Authorization {
    const { proof } = generation;
    const isTrial = generation.state === "fresh";
    const isCurrent = (): boolean =>
      this.#generation === generation && generation.state !== "refused" && (isTrial || !proof.isExpired);
    let isOver = false;
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => proof.headers(url),
      settle: (result, signal) => {
        if (isOver) return undefined;
        isOver = isTrial;
        if (result.kind !== "unanswered") proof.keep(result.setCookies);
        if (result.kind === "refused") return this.#renew(generation, isTrial, signal);
        if (isTrial) this.#passTrial(generation, result.kind);
        return undefined;
      },
    };
  }

  /** A trial without a response leaves the generation fresh: the next request tries it. */
  #passTrial(generation: Generation, kind: "accepted" | "unanswered"): void {
    if (kind === "accepted") {
      generation.state = "accepted";
      this.#untried = 0;
    }
    this.#endTrial();
  }

  async #renew(
    generation: Generation,
    wasTrial: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Authorization> {
    // A late 401 of an older proof says nothing about the present one.
    if (this.#generation !== generation || generation.state === "refused") return this.authorize(signal);
    const { isLastTry, isExpired } = generation.proof;
    generation.state = "refused";
    if (!wasTrial || !isLastTry) return this.#startTrial(signal);
    // Its request waited so long for permission to be sent that the proof had expired by then.
    this.#untried += 1;
    if (isExpired && this.#untried < MOST_UNTRIED) return this.#startTrial(signal);
    this.#failure = this.#options.unauthenticated();
    this.#endTrial();
    throw this.#failure;
  }
}
