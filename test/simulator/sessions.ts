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
  /** So long after a login its session is not known yet: 401. */
  readonly knownAfterMs?: number;
  /** How a request with a session that has ended is answered; default 401. A redirect leads to a login page. */
  readonly ends?: SessionEnd;
  /**
   * Its cookies say how long it lives (Max-Age). A request after that, or without a session, is answered as that of a stranger:
   * with 200 and what anybody may see.
   */
  readonly isOpen?: boolean;
}

export type SessionEnd = 401 | 419 | 440 | "redirect";

interface Session {
  readonly check: string;
  readonly openedAtMs: number;
  /** What its cookies say. */
  readonly saidAgeMs: number | undefined;
  requests: number;
}

const ID = "bms_session";
const CHECK = "bms_check";
const ATTRIBUTES = "Path=/; HttpOnly";

/** A session is two cookies, and both are needed: a client that keeps only one is not logged in. */
export class Sessions {
  readonly #live = new Map<string, Session>();
  /** The first cookies of those that have ended, and how. */
  readonly #ended = new Map<string, "ended" | "over">();
  readonly #unique: () => string;

  constructor(unique: () => string = randomUUID) {
    this.#unique = unique;
  }

  /** Opens a session; returns the values of its `Set-Cookie` headers. */
  open(nowMs: number, options: SessionOptions): readonly string[] {
    const { exclusive = false, isOpen = false, maxAgeMs = Infinity } = options;
    const attributes = `${options.attributes ?? ATTRIBUTES}${isOpen ? `; Max-Age=${maxAgeMs / 1_000}` : ""}`;
    if (exclusive) this.endAll();
    const id = `${CANARY.cookie}-${this.#unique()}`;
    const check = `${CANARY.cookie}-${this.#unique()}`;
    const saidAgeMs = isOpen ? maxAgeMs : undefined;
    this.#live.set(id, { check, openedAtMs: nowMs, saidAgeMs, requests: 0 });
    return [`${ID}=${id}; ${attributes}`, `${CHECK}=${check}; ${attributes}`];
  }

  /**
   * What these cookies are; `admitted`: a living session's, of which one request is used; `over`: of one that has lived its
   * time.
   */
  look(
    cookieHeader: string | undefined,
    nowMs: number,
    options: SessionOptions,
  ): "admitted" | "unknown" | "ended" | "over" {
    const cookies = parseCookies(cookieHeader ?? "");
    const id = cookies.get(ID) ?? "";
    const session = this.#live.get(id);
    if (session === undefined) return this.#ended.get(id) ?? "unknown";
    const { maxAgeMs = Infinity, maxRequests = Infinity, knownAfterMs = 0 } = options;
    const ageMs = nowMs - session.openedAtMs;
    if (session.check !== cookies.get(CHECK) || ageMs < knownAfterMs) return "unknown";
    const isOver = ageMs >= (session.saidAgeMs ?? maxAgeMs);
    if (isOver || session.requests >= maxRequests) return this.#end(id, isOver ? "over" : "ended");
    session.requests += 1;
    return "admitted";
  }

  endAll(): void {
    for (const id of this.#live.keys()) this.#end(id, "ended");
  }

  #end<How extends "ended" | "over">(id: string, how: How): How {
    this.#live.delete(id);
    this.#ended.set(id, how);
    return how;
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
