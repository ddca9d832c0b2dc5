// Puts credentials on requests to their own origin, and renews refused ones, once for all requests. The folder auth has
// each method. It sends no request a second time.

import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Address, HttpResponse } from "../http/transport.ts";
import { statusClass } from "./retry.ts";

/** Where the methods differ: what requests carry, and how it is renewed. */
export interface AuthenticationMethod {
  readonly name: "session" | "basic" | "oauth";
  readonly credentials: { readonly current: ServiceCredentials };
  /** The message of the error for a proof that is refused although there is no better one. */
  readonly unauthenticated: string;
  /**
   * The first proof, or one in place of a refused or expired one; undefined where there is no other. Called by one request
   * at a time.
   */
  renew(signal: AbortSignal | undefined): Promise<Proof | undefined>;
  /** Of the stored tokens, where it has some. */
  tokensVersion?(): string;
  close?(): Promise<void>;
}

/** What one renewal gives, and requests carry. */
export interface Proof {
  /** Whether a refusal of its first request ends the run: another renewal would give nothing better. */
  readonly isLastTry: boolean;
  /** Past its time: it is renewed before its next use. */
  readonly isExpired?: boolean;
  headers(url: Address): Readonly<Record<string, string>>;
  /** Takes the cookies of a response. */
  keep?(setCookies: readonly string[]): void;
}

/** What one request carries. */
export interface Authorization {
  /** False once it is known to be stale: get another authorization before sending. */
  readonly isCurrent: boolean;
  /** None unless the URL has the exact origin the credentials belong to. */
  headers(url: Address): Readonly<Record<string, string>>;
  /**
   * Reports the response, or that none came or nothing was sent; once for each authorization. After a 401 it resolves with
   * the renewed authorization to send the request again with, or rejects with `UNAUTHENTICATED`; else it returns undefined.
   */
  settle(
    response?: Pick<HttpResponse, "status" | "headers">,
    signal?: AbortSignal,
  ): Promise<Authorization> | undefined;
}

interface Generation {
  readonly proof: Proof;
  /** `fresh` until one request was answered with anything but 401. */
  state: "fresh" | "accepted" | "refused";
}

/** So many proofs in a row may expire before a request could try them. */
const MOST_UNTRIED = 3;

/**
 * A fresh generation is tried by one request while all others wait. The request that found the old one refused
 * is the one that tries the new one, so a request that is refused whatever the proof ends the run instead of
 * renewing for ever, and a proof that died costs one renewal however many requests were in flight.
 */
export class Authenticator {
  readonly #origin: string;
  readonly #method: AuthenticationMethod;
  #generation: Generation | undefined;
  /** One request renews or tries a fresh generation. */
  #isBusy = false;
  #changed = Promise.withResolvers<void>();
  #failure: SyncError | undefined;
  #untried = 0;

  /** @param url credentials go to its exact origin (scheme, host, port) only */
  constructor({ origin }: URL, method: AuthenticationMethod) {
    this.#origin = origin;
    this.#method = method;
  }

  /** Waits while credentials are renewed or tried. Each authorization must be settled, also if nothing was sent. */
  async authorize(signal?: AbortSignal): Promise<Authorization> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const generation = this.#generation;
      if (generation?.state === "accepted" && !generation.proof.isExpired)
        return this.#authorization(generation);
      if (!this.#isBusy) return this.#startTrial(signal);
      await abortable(this.#changed.promise, signal);
    }
  }

  /** From here until the returned authorization is settled, no other request is sent. */
  async #startTrial(signal: AbortSignal | undefined): Promise<Authorization> {
    this.#isBusy = true;
    try {
      if (this.#generation?.state !== "fresh") {
        const proof = await this.#method.renew(signal);
        if (proof === undefined) throw this.#unauthenticated();
        this.#generation = { proof, state: "fresh" };
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
      headers: (url) => (url.origin === this.#origin ? proof.headers(url) : {}),
      settle: (response, signal) => {
        if (isOver) return undefined;
        isOver = isTrial;
        if (response !== undefined) proof.keep?.(response.headers.get("set-cookie") ?? []);
        if (response && statusClass(response.status) === "renew")
          return this.#renew(generation, isTrial, signal);
        if (isTrial) this.#passTrial(generation, response !== undefined);
        return undefined;
      },
    };
  }

  /** A trial without a response leaves the generation fresh: the next request tries it. */
  #passTrial(generation: Generation, isAccepted: boolean): void {
    if (isAccepted) {
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
    this.#failure = this.#unauthenticated();
    this.#endTrial();
    throw this.#failure;
  }

  #unauthenticated(): SyncError {
    const { name, unauthenticated } = this.#method;
    return new SyncError("UNAUTHENTICATED", unauthenticated, { fields: { method: name, status: 401 } });
  }
}
