// Cookie sessions (interface document §5 rule 3): one login, its cookies on every request, a new one when refused.

import { SyncError } from "../../errors/sync-error.ts";
import { abortable } from "../../runtime/abortable.ts";
import type { Authenticator, Pass } from "./authenticator.ts";
import type { SessionCookies } from "./session-cookies.ts";

export type Login = (signal: AbortSignal | undefined) => Promise<SessionCookies>;

/** One login and what we know of it. */
interface Generation {
  readonly number: number;
  readonly cookies: SessionCookies;
  /** `fresh` until one request was answered with anything but 401. */
  state: "fresh" | "accepted" | "refused";
}

/**
 * A fresh generation is tried out by one request while all others wait. The request that found the old one refused
 * is the one that tries the new one, so a request that is refused whatever the session ends the run instead of
 * logging in for ever, and a session that died costs one login however many requests were in flight.
 */
export class SessionAuthenticator implements Authenticator {
  readonly #login: Login;
  #generation: Generation | undefined;
  #logins = 0;
  /** Somebody logs in or tries a fresh generation out. */
  #busy = false;
  #changed = Promise.withResolvers<void>();
  #failure: SyncError | undefined;

  constructor(login: Login) {
    this.#login = login;
  }

  async pass(signal?: AbortSignal): Promise<Pass> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#generation?.state === "accepted") return this.#passOf(this.#generation);
      if (!this.#busy) return this.#takeTurn(signal);
      await abortable(this.#changed.promise, signal);
    }
  }

  /** From here until the returned pass is settled nobody else sends. */
  async #takeTurn(signal: AbortSignal | undefined): Promise<Pass> {
    this.#busy = true;
    try {
      if (this.#generation?.state !== "fresh") {
        const cookies = await this.#login(signal);
        this.#logins += 1;
        this.#generation = { number: this.#logins, cookies, state: "fresh" };
      }
      return this.#passOf(this.#generation);
    } catch (error) {
      // A login that failed is not repeated by those who wait; one that was aborted is none of their business.
      if (error instanceof SyncError) this.#failure = error;
      this.#endTurn();
      throw error;
    }
  }

  #endTurn(): void {
    this.#busy = false;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #passOf(generation: Generation): Pass {
    const isCurrent = (): boolean => this.#generation === generation && generation.state !== "refused";
    let onTrial = generation.state === "fresh";
    const endTrial = (): boolean => {
      const was = onTrial;
      onTrial = false;
      return was;
    };
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => generation.cookies.headers(url),
      keep: (setCookies) => generation.cookies.keep(setCookies),
      accepted: () => {
        if (!endTrial()) return;
        generation.state = "accepted";
        this.#endTurn();
      },
      release: () => {
        if (endTrial()) this.#endTurn();
      },
      refused: (signal) =>
        endTrial() ? this.#trialRefused(generation, signal) : this.#refused(generation, signal),
    };
  }

  async #trialRefused(generation: Generation, signal: AbortSignal | undefined): Promise<Pass> {
    generation.state = "refused";
    // The first login gets a second chance: a service may need a moment or two logins to settle.
    if (generation.number === 1) return this.#takeTurn(signal);
    this.#failure = unauthenticated();
    this.#endTurn();
    throw this.#failure;
  }

  async #refused(generation: Generation, signal: AbortSignal | undefined): Promise<Pass> {
    // A late 401 of an older session says nothing about the present one.
    if (this.#generation !== generation || generation.state === "refused") return this.pass(signal);
    generation.state = "refused";
    return this.#takeTurn(signal);
  }
}

function unauthenticated(): SyncError {
  return new SyncError(
    "UNAUTHENTICATED",
    "The service accepted the login but answered the next request with 401, also after a new login. Check that the " +
      "account may use the interface and that --base-url is the service itself and no proxy that drops cookies.",
    { fields: { method: "session", status: 401 } },
  );
}
