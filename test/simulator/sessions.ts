// The sessions of the simulated service. They end by time, after some requests, or with another login.

import { randomUUID } from "node:crypto";
import { CANARY } from "./account.ts";

export interface SessionOptions {
  readonly maxAgeMs?: number;
  /** Protected requests that one session is good for. */
  readonly maxRequests?: number;
  /** A login ends all other sessions. */
  readonly exclusive?: boolean;
  /** Attributes of both cookies; default `Path=/; HttpOnly`. */
  readonly attributes?: string;
  /** A 401 also tells the client to drop its cookies, as many services do. */
  readonly clearsCookies?: boolean;
}

interface Session {
  readonly check: string;
  readonly openedAtMs: number;
  requests: number;
}

const ID = "bms_session";
const CHECK = "bms_check";
const ATTRIBUTES = "Path=/; HttpOnly";

/** A session is two cookies, and both are needed: a client that keeps only one is not logged in. */
export class Sessions {
  readonly #live = new Map<string, Session>();

  /** Opens a session; returns the values of its `Set-Cookie` headers. */
  open(nowMs: number, { exclusive = false, attributes = ATTRIBUTES }: SessionOptions): readonly string[] {
    if (exclusive) this.endAll();
    const id = `${CANARY.cookie}-${randomUUID()}`;
    const check = `${CANARY.cookie}-${randomUUID()}`;
    this.#live.set(id, { check, openedAtMs: nowMs, requests: 0 });
    return [`${ID}=${id}; ${attributes}`, `${CHECK}=${check}; ${attributes}`];
  }

  /** Whether these cookies are a living session's; if so, one of its requests is used. */
  admits(cookieHeader: string | undefined, nowMs: number, options: SessionOptions): boolean {
    const cookies = parseCookies(cookieHeader ?? "");
    const id = cookies.get(ID) ?? "";
    const session = this.#live.get(id);
    if (session === undefined || session.check !== cookies.get(CHECK)) return false;
    const { maxAgeMs = Infinity, maxRequests = Infinity } = options;
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

/** `Set-Cookie` values that make a client forget its session (RFC 6265 §3.1). */
export const clearedCookies = ({ attributes = ATTRIBUTES }: SessionOptions): readonly string[] =>
  [ID, CHECK].map((name) => `${name}=; ${attributes}; Max-Age=0`);

const parseCookies = (header: string): ReadonlyMap<string, string> => {
  const cookies = new Map<string, string>();
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    // The first one counts, as in most servers: a client that sends an old one before the new one is refused.
    if (at > 0 && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
};
