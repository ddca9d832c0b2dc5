// When a session is over by its own word: a cookie of the login's answer has ended, by its Max-Age or Expires (RFC 6265 §5.2),
// and was not set again. From then on it is not sent, and a service may answer as it answers strangers.

/** A cookie of the login's answer, by the monotonic clock: since when there is one, and until when, as it was set last. */
export interface LoginCookie {
  readonly name: string;
  readonly fromMs: number;
  readonly endsAtMs: number;
  /** How long it was to live, where a wall clock that was set on has ended it earlier. */
  readonly statedMs?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** So many ends within an hour are those of a session. More are those of something else. */
const MOST_IN_AN_HOUR = 3;

/** The ends that count, over all sessions of a run: a new login must not follow each login. */
export class SessionEnds {
  /** The cookies of each name, oldest first. */
  readonly #counted = new Map<string, readonly LoginCookie[]>();
  /** The names whose ends no longer count: they came again within a minute, or a fourth time in an hour. */
  readonly ignored = new Set<string>();

  /** Whether a session with these cookies is over. */
  isOver(cookies: Iterable<LoginCookie>, nowMs: number): boolean {
    let isOver = false;
    for (const cookie of cookies) if (cookie.endsAtMs <= nowMs && this.#counts(cookie)) isOver = true;
    return isOver;
  }

  #counts(cookie: LoginCookie): boolean {
    const { name, fromMs, endsAtMs, statedMs = endsAtMs - fromMs } = cookie;
    if (this.ignored.has(name)) return false;
    const counted = this.#counted.get(name) ?? [];
    const last = counted.at(-1);
    if (last?.fromMs === fromMs && last.endsAtMs === endsAtMs) return true;
    const inHour = counted.filter((each) => endsAtMs - each.endsAtMs < HOUR_MS);
    const isAgain = last !== undefined && endsAtMs - last.endsAtMs < MINUTE_MS;
    if (isAgain || inHour.length === MOST_IN_AN_HOUR) {
      this.ignored.add(name);
      return false;
    }
    // What lives shorter is there for the login itself.
    if (statedMs < MINUTE_MS) return false;
    this.#counted.set(name, [...inHour, cookie]);
    return true;
  }
}
