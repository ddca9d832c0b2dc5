// Cookie sessions (docs/service-interface.md §4.1): one login, its cookies on every request, a new login when refused.

import { SyncError } from "../../errors/sync-error.ts";
import { abortable } from "../../runtime/abortable.ts";
import type { Authenticator, Authorization, RequestResult } from "../requests/authenticator.ts";
import type { SessionCookies } from "./session-cookies.ts";

export type Login = (signal: AbortSignal | undefined) => Promise<SessionCookies>;

/** One login and the state of its session. */
interface Generation {
  readonly number: number;
  readonly cookies: SessionCookies;
  /** `fresh` until one request was answered with anything but 401. */
  state: "fresh" | "accepted" | "refused";
}

/**
 * A fresh generation is tried by one request while all others wait. The request that found the old one refused
 * is the one that tries the new one, so a request that is refused whatever the session ends the run instead of
 * logging in for ever, and a session that died costs one login however many requests were in flight.
 */
export class SessionAuthenticator implements Authenticator {
  readonly #login: Login;
  #generation: Generation | undefined;
  #logins = 0;
  /** One request logs in or tries a fresh generation. */
  #isBusy = false;
  #changed = Promise.withResolvers<void>();
  #failure: SyncError | undefined;

  constructor(login: Login) {
    this.#login = login;
  }

  async authorize(signal?: AbortSignal): Promise<Authorization> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#generation?.state === "accepted") return this.#authorization(this.#generation);
      if (!this.#isBusy) return this.#startTrial(signal);
      await abortable(this.#changed.promise, signal);
    }
  }

  /** From here until the returned authorization is settled, no other request is sent. */
  async #startTrial(signal: AbortSignal | undefined): Promise<Authorization> {
    this.#isBusy = true;
    try {
      if (this.#generation?.state !== "fresh") {
        const cookies = await this.#login(signal);
        this.#logins += 1;
        this.#generation = { number: this.#logins, cookies, state: "fresh" };
      }
      return this.#authorization(this.#generation);
    } catch (error) {
      // Requests that wait do not repeat a login that failed. An aborted login says nothing about theirs.
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
    const isCurrent = (): boolean => this.#generation === generation && generation.state !== "refused";
    const isTrial = generation.state === "fresh";
    let isSettled = false;
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => generation.cookies.headers(url),
      settle: async (result, signal) => {
        if (isSettled) return undefined;
        isSettled = true;
        if (result.kind !== "unanswered") generation.cookies.keep(result.setCookies);
        if (result.kind === "refused") return this.#renew(generation, isTrial, signal);
        if (isTrial) this.#passTrial(generation, result.kind);
        return undefined;
      },
    };
  }

  /** A trial without a response leaves the generation fresh: the next request tries it. */
  #passTrial(generation: Generation, kind: Exclude<RequestResult["kind"], "refused">): void {
    if (kind === "accepted") generation.state = "accepted";
    this.#endTrial();
  }

  async #renew(
    generation: Generation,
    wasTrial: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Authorization> {
    // A late 401 of an older session says nothing about the present one.
    if (this.#generation !== generation || generation.state === "refused") return this.authorize(signal);
    generation.state = "refused";
    // The first login gets a second chance: a service may need a moment or two logins to settle.
    if (!wasTrial || generation.number === 1) return this.#startTrial(signal);
    this.#failure = unauthenticated();
    this.#endTrial();
    throw this.#failure;
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
