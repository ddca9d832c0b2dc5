// Puts credentials on requests to their own origin, and renews refused ones, once for all requests. The folder auth has
// each method. It sends no request a second time.

import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { type Advice, inOrder } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Address, HttpResponse } from "../http/transport.ts";
import { AddressDoubt } from "./address-doubt.ts";
import { isForStrangers, isSessionOver, isUnauthenticated, requestName } from "./failure.ts";
import { statusClass } from "./retry.ts";

/** Where the methods differ: what requests carry, and how it is renewed. */
export interface AuthenticationMethod {
  readonly credentials: { readonly current: ServiceCredentials };
  /** The error for a proof that is refused although there is no better one. */
  readonly unauthenticated: { readonly what: string; readonly next: string; readonly ifNew: Advice };
  /**
   * The first proof, or one in place of a refused or expired one; undefined where there is no other. Called by one request
   * at a time.
   */
  renew(signal: AbortSignal | undefined): Promise<Proof | undefined>;
  /** The version of the stored tokens, where the method has some. */
  tokensVersion?(): string;
  close?(): Promise<void>;
}

/** What one renewal gives, and requests carry. */
export interface Proof {
  /** Whether a refusal of its first request ends the run: another renewal would give nothing better. */
  readonly isLastTry: boolean;
  /** Made before this run: whether it was ever accepted is unknown. */
  readonly isStored?: boolean;
  /** A request that is refused is sent again with the same proof after each of these, before another proof is asked for. */
  readonly pausesMs?: {
    /** Until the proof is accepted for the first time. */
    readonly fresh?: readonly number[];
    /** Each time after it was accepted. */
    readonly accepted?: readonly number[];
  };
  /** Past its time: it is renewed before its next use. */
  readonly isExpired?: boolean;
  /**
   * Past its time the service may answer as it answers strangers, with 200 and a part of the events: nothing is sent then, and
   * what comes then is asked for again.
   */
  readonly endsUnsaid?: true;
  headers(url: Address): Readonly<Record<string, string>>;
  /** Takes the cookies of a response. @param sentAtMs when its request was sent: what lives for so long is not younger */
  keep?(setCookies: readonly string[], sentAtMs: number): void;
}

/** A service of several machines may not know a new session or token everywhere yet. */
export const NEW_PROOF_PAUSES_MS = { fresh: [1_000, 3_000] };

/** What one request carries. */
export interface Authorization {
  /** False once it is known to be stale: get another authorization before sending. */
  readonly isCurrent: boolean;
  /** None unless the URL has the exact origin the credentials belong to. */
  headers(url: Address): Readonly<Record<string, string>>;
  /**
   * Reports the response, or that none came or nothing was sent; once for each authorization. After a refusal it resolves
   * with the authorization to send the request again with, or rejects with `UNAUTHENTICATED`; else it returns undefined.
   * @param url of the request, which the error names if others were answered, and which starts one renewal until it is answered
   */
  settle(response?: Settled, signal?: AbortSignal, url?: Address): Promise<Authorization> | undefined;
}

type Settled = Pick<HttpResponse, "status" | "headers"> & Partial<Pick<HttpResponse, "body">>;

/** One attempt with a proof. A proof that is tried again has several. */
interface Generation {
  readonly proof: Proof;
  /** `fresh` until one request was answered as only an accepted one is. */
  state: "fresh" | "accepted" | "refused";
  /** Before each of the next generations of the same proof. */
  pausesMs: readonly number[];
}

interface AuthenticatorPorts {
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly logger: Pick<Logger, "debug">;
}

/** How: as unauthenticated, or otherwise as strangers are. */
const REFUSED_BY = ["401 ", "redirect "] as const;

/** So many proofs in a row may come to nothing: no request was answered with one of them. */
const MOST_UNANSWERED = 3;

/**
 * A fresh generation is tried by one request while all others wait. The request that found the old one refused
 * is the one that tries the new one, so a request that is refused whatever the proof ends the run instead of
 * renewing for ever, and a proof that died costs one renewal however many requests were in flight.
 */
export class Authenticator {
  readonly #base: URL;
  readonly #method: AuthenticationMethod;
  readonly #ports: AuthenticatorPorts;
  #generation: Generation | undefined;
  /** One request renews or tries a fresh generation. */
  #isBusy = false;
  #changed = Promise.withResolvers<void>();
  #failure: SyncError | undefined;
  /** How many proofs there were since a request was answered. */
  #unanswered = 0;
  /** Whether any proof was accepted so far. */
  #hasAccepted = false;
  /** URLs, behind how. Each has started a renewal so, and has had only refusals since: it may be refused so whatever the proof. */
  readonly #refusals = new Set<string>();

  /** @param base credentials go to its exact origin (scheme, host, port) only */
  constructor(base: URL, method: AuthenticationMethod, ports: AuthenticatorPorts) {
    this.#base = base;
    this.#method = method;
    this.#ports = ports;
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
  async #startTrial(signal: AbortSignal | undefined, refused?: Address): Promise<Authorization> {
    this.#isBusy = true;
    try {
      if (this.#generation?.state !== "fresh" || hasEndedUnsaid(this.#generation.proof)) {
        if (this.#unanswered === MOST_UNANSWERED) throw this.#unauthenticated(refused);
        const proof = await this.#method.renew(signal);
        if (proof === undefined) throw this.#unauthenticated(refused);
        this.#unanswered += 1;
        this.#generation = { proof, state: "fresh", pausesMs: proof.pausesMs?.fresh ?? [] };
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
    const { clock } = this.#ports;
    const isTrial = generation.state === "fresh";
    const isCurrent = (): boolean =>
      this.#generation === generation &&
      generation.state !== "refused" &&
      !(isTrial ? hasEndedUnsaid(proof) : proof.isExpired);
    let isOver = false;
    let sentAtMs = 0;
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => {
        sentAtMs = clock.now();
        return url.origin === this.#base.origin ? proof.headers(url) : {};
      },
      settle: (response, signal, url) => {
        if (isOver) return undefined;
        isOver = isTrial;
        const isStrange = response !== undefined && isForStrangers(response, this.#base, url);
        if (response !== undefined && !isStrange) {
          // What a stranger gets may be the cookies of one.
          proof.keep?.(response.headers.get("set-cookie") ?? [], sentAtMs);
          if (url) for (const by of REFUSED_BY) this.#refusals.delete(by + url.href);
        }
        const isAccepted = response !== undefined && showsAcceptance(response);
        if (isAccepted && hasEndedUnsaid(proof)) return this.#refused(generation, isTrial, signal);
        if (response && isStrange && isRefusal(generation, response))
          return this.#refused(generation, isTrial, signal, { url, response });
        if (isAccepted) this.#unanswered = 0;
        if (isTrial) this.#passTrial(generation, isAccepted);
        return undefined;
      },
    };
  }

  /** A trial that says nothing of the generation leaves it fresh: the next request tries it. */
  #passTrial(generation: Generation, isAccepted: boolean): void {
    if (isAccepted) {
      generation.state = "accepted";
      this.#hasAccepted = true;
      generation.pausesMs = generation.proof.pausesMs?.accepted ?? [];
    }
    this.#endTrial();
  }

  /** @param by what refused the proof; undefined where it had ended by then */
  #refused(
    generation: Generation,
    wasTrial: boolean,
    signal: AbortSignal | undefined,
    by?: { readonly url: Address | undefined; readonly response: Settled },
  ): Promise<Authorization> | undefined {
    // A late refusal of an older proof, or of one that another request has found refused, says nothing new.
    const isLate = this.#isBusy || this.#generation !== generation || generation.state === "refused";
    if (!wasTrial && isLate) return this.authorize(signal);
    if (by?.url && !wasTrial) {
      const { url, response } = by;
      // An event that always redirects may be the one that finds out that the session has ended.
      const [by401, byOther] = REFUSED_BY;
      const refusal = (isUnauthenticated(response) ? by401 : byOther) + url.href;
      if (this.#refusals.has(refusal))
        return isUnauthenticated(response) ? Promise.reject(this.#unauthenticated(url)) : undefined;
      this.#refusals.add(refusal);
    }
    return this.#renew(generation, wasTrial, signal, by?.url);
  }

  async #renew(
    generation: Generation,
    wasTrial: boolean,
    signal: AbortSignal | undefined,
    url: Address | undefined,
  ): Promise<Authorization> {
    const { proof, pausesMs } = generation;
    generation.state = "refused";
    const [pauseMs, ...left] = pausesMs;
    if (pauseMs !== undefined && !proof.isExpired) {
      this.#generation = { proof, state: "fresh", pausesMs: left };
      return this.#tryAgain(this.#generation, pauseMs, signal);
    }
    // The first request of the session waited so long for permission to be sent that the proof had expired by then.
    const isUntried =
      hasEndedUnsaid(proof) || (proof.isExpired && pausesMs.length === (proof.pausesMs?.fresh ?? []).length);
    if (!wasTrial || !proof.isLastTry || isUntried) return this.#startTrial(signal, url);
    this.#failure = this.#unauthenticated(url);
    this.#endTrial();
    throw this.#failure;
  }

  /** The request that was refused tries the same proof once more, while all others wait. */
  async #tryAgain(
    generation: Generation,
    pauseMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Authorization> {
    const { clock, logger } = this.#ports;
    this.#isBusy = true;
    logger.debug(
      `not authenticated (${this.#method.credentials.current.method}); the same request again in ${pauseMs / 1_000} s`,
    );
    try {
      await clock.sleep(pauseMs, signal);
      return this.#authorization(generation);
    } catch (error) {
      this.#endTrial();
      throw error;
    }
  }

  /** One event may be refused whatever the proof: then the credentials are right, and only its request says so. */
  #unauthenticated(refused: Address | undefined): SyncError {
    const { credentials, unauthenticated } = this.#method;
    const { what, next, ifNew } = unauthenticated;
    const request = refused && this.#hasAccepted ? requestName("GET", refused) : undefined;
    const only = request ? ` The refused request is ${request}, and others were answered.` : "";
    const ask = request && "If it is always this one, ask the service's operator about it.";
    const ifKnown = inOrder(next, ask);
    const fields = { method: credentials.current.method, status: 401, ...(request && { request }) };
    return new AddressDoubt("UNAUTHENTICATED", what + only, {
      ifNew: inOrder(ifKnown, ifNew),
      ...{ ifKnown, fields },
    });
  }
}

function hasEndedUnsaid({ endsUnsaid, isExpired }: Proof): boolean {
  return endsUnsaid === true && isExpired === true;
}

/**
 * Of a proof that was accepted, perhaps before this run, all that strangers get says that it is over. Of a new one all but
 * the refusal of the proof itself says that something else is wrong, and ends the run.
 */
function isRefusal({ state, proof }: Generation, response: Settled): boolean {
  return isUnauthenticated(response) || state !== "fresh" || proof.isStored === true;
}

/** A service that fails or asks to wait has perhaps not looked at the proof. */
function showsAcceptance(response: Settled): boolean {
  const { status } = response;
  const kind = statusClass(status);
  return kind === "read" || (kind === "refused" && !isSessionOver(status) && !isUnauthenticated(response));
}
