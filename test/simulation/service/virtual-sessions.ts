// The sessions of the service of a world: they end by time, after some requests, or with another login.

import type { Setting } from "../plan/plan.ts";

interface Session {
  readonly openedAtMs: number;
  requests: number;
}

export class VirtualSessions {
  readonly #options: Setting["session"];
  readonly #live = new Map<string, Session>();
  #opened = 0;

  constructor(options: Setting["session"]) {
    this.#options = options;
  }

  /** Opens a session and returns its cookie's value. */
  open(nowMs: number): string {
    if (this.#options.exclusive) this.endAll();
    this.#opened += 1;
    const id = `s${this.#opened}`;
    this.#live.set(id, { openedAtMs: nowMs, requests: 0 });
    return id;
  }

  admits(cookies: string | undefined, nowMs: number): boolean {
    const id = /session=(\w+)/.exec(cookies ?? "")?.[1] ?? "";
    const session = this.#live.get(id);
    if (session === undefined) return false;
    const { maxAgeMs = Number.POSITIVE_INFINITY, maxRequests = Number.POSITIVE_INFINITY } = this.#options;
    if (nowMs - session.openedAtMs >= maxAgeMs || session.requests >= maxRequests) {
      this.#live.delete(id);
      return false;
    }
    session.requests += 1;
    return true;
  }

  endAll(): void {
    this.#live.clear();
  }
}
