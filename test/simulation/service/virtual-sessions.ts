// The sessions of the service of a world: they end by time, after some requests, or with another login.

import type { Setting } from "../plan/plan.ts";

interface Session {
  readonly openedAtMs: number;
  requests: number;
}

export class VirtualSessions {
  readonly #options: Setting["session"];
  readonly #knownAfterMs: number;
  readonly #live = new Map<string, Session>();
  #opened = 0;

  constructor({ session, knownAfterMs }: Pick<Setting, "session" | "knownAfterMs">) {
    this.#options = session;
    this.#knownAfterMs = knownAfterMs;
  }

  /** Opens a session and returns its cookie's value. */
  open(nowMs: number): string {
    if (this.#options.exclusive) this.endAll();
    this.#opened += 1;
    const id = `s${this.#opened}`;
    this.#live.set(id, { openedAtMs: nowMs, requests: 0 });
    return id;
  }

  /** What a request brings; `admitted`: a living session, of which one request is used. */
  look(cookies: string | undefined, nowMs: number): "admitted" | "unknown" | "ended" {
    const id = /session=(\w+)/.exec(cookies ?? "")?.[1];
    if (id === undefined) return "unknown";
    const session = this.#live.get(id);
    // Every cookie was given by a login.
    if (session === undefined) return "ended";
    const { maxAgeMs = Number.POSITIVE_INFINITY, maxRequests = Number.POSITIVE_INFINITY } = this.#options;
    const ageMs = nowMs - session.openedAtMs;
    if (ageMs < this.#knownAfterMs) return "unknown";
    if (ageMs >= maxAgeMs || session.requests >= maxRequests) {
      this.#live.delete(id);
      return "ended";
    }
    session.requests += 1;
    return "admitted";
  }

  endAll(): void {
    this.#live.clear();
  }
}
