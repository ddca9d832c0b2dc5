// Every request the simulator saw, and what tests ask about them.

import { setImmediate as nextTurn } from "node:timers/promises";
import { SlidingSum } from "./limiter.ts";
import type { Endpoint } from "./service-request.ts";
import type { SimulatedResponse } from "./simulated-response.ts";

export interface LoggedRequest {
  /** From 1, in the order of arrival. */
  readonly n: number;
  readonly endpoint: Endpoint;
  readonly uuid?: string;
  readonly arrivedAtMs: number;
  /** A `Retry-After` that the client knew of still lasted. */
  readonly duringRetryAfter: boolean;
  /** Undefined while there is none, and where the connection broke before it. */
  status?: number;
  /** Of the body, before compressing. */
  bytes: number;
  answeredAtMs?: number;
  loggedIn: boolean;
  faulty: boolean;
}

export interface Counts {
  readonly requests: number;
  /** Login requests, whatever their response. */
  readonly logins: number;
  readonly loginsAccepted: number;
  readonly list: number;
  readonly details: number;
  readonly detailsByUuid: ReadonlyMap<string, number>;
  readonly statuses: ReadonlyMap<number, number>;
  readonly bytes: number;
  /** The most of each in any window; refused requests count too. Requests count when they arrive, bytes when the response is made. */
  readonly fullestWindow: { readonly requests: number; readonly bytes: number };
  /** Arrived and not yet answered. Without latency each is answered as it arrives, so give some to test this. */
  readonly maxInFlight: number;
  readonly requestsDuringRetryAfter: number;
  /** 401s on protected endpoints. */
  readonly unauthenticated: number;
  /** Requests that a fault rule hit. */
  readonly faults: number;
}

export class RequestLog {
  #entries: LoggedRequest[] = [];
  #inFlight = 0;
  #maxInFlight = 0;

  get entries(): readonly Readonly<LoggedRequest>[] {
    return this.#entries;
  }

  arrive(seen: Pick<LoggedRequest, "endpoint" | "uuid" | "arrivedAtMs" | "duringRetryAfter">): LoggedRequest {
    const entry = { ...seen, n: this.#entries.length + 1, bytes: 0, loggedIn: false, faulty: false };
    this.#entries.push(entry);
    this.#inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
    return entry;
  }

  leave(): void {
    this.#inFlight -= 1;
  }

  /** Forgets what it saw; requests still in flight stay in flight. */
  reset(): void {
    this.#entries = [];
    this.#maxInFlight = this.#inFlight;
  }

  counts(windowMs: number): Counts {
    const entries = this.#entries;
    const count = (test: (entry: LoggedRequest) => boolean): number => entries.filter(test).length;
    const sent = entries
      .map(({ answeredAtMs, bytes }) => ({ atMs: answeredAtMs ?? 0, amount: bytes }))
      .sort((a, b) => a.atMs - b.atMs);
    return {
      requests: entries.length,
      logins: count(({ endpoint }) => endpoint === "login"),
      loginsAccepted: count(({ loggedIn }) => loggedIn),
      list: count(({ endpoint }) => endpoint === "list"),
      details: count(({ endpoint }) => endpoint === "detail"),
      detailsByUuid: tally(entries.map(({ uuid }) => uuid)),
      statuses: tally(entries.map(({ status }) => status)),
      bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
      fullestWindow: {
        requests: fullest(
          entries.map(({ arrivedAtMs }) => ({ atMs: arrivedAtMs, amount: 1 })),
          windowMs,
        ),
        bytes: fullest(sent, windowMs),
      },
      maxInFlight: this.#maxInFlight,
      requestsDuringRetryAfter: count(({ duringRetryAfter }) => duringRetryAfter),
      unauthenticated: count(({ endpoint, status }) => endpoint !== "login" && status === 401),
      faults: count(({ faulty }) => faulty),
    };
  }
}

const tally = <T>(values: readonly (T | undefined)[]): ReadonlyMap<T, number> => {
  const counts = new Map<T, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

const fullest = (
  uses: readonly { readonly atMs: number; readonly amount: number }[],
  windowMs: number,
): number => {
  const window = new SlidingSum();
  let most = 0;
  for (const { atMs, amount } of uses) {
    window.add(atMs, amount);
    most = Math.max(most, window.at(atMs, windowMs));
  }
  return most;
};

/**
 * A request that is on its way when the response leaves is not the client's fault. With both in one process, turns of the
 * event loop measure that better than time: new connections are accepted about one a turn.
 */
const TURNS_UNTIL_READ = 200;

export class RetryAfterWatch {
  #untilMs = 0;

  lasts(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** Records a response that leaves now. It binds the client from the moment at which it can have read it. */
  async sent(headers: SimulatedResponse["headers"], nowMs: number): Promise<void> {
    const untilMs = end(headers["retry-after"], nowMs);
    if (untilMs === undefined) return;
    for (let turn = 0; turn < TURNS_UNTIL_READ; turn += 1) await nextTurn();
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}

/** RFC 9110 §10.2.3: seconds or an HTTP-date; or a Unix time in seconds or milliseconds. */
const end = (value: string | readonly string[] | undefined, nowMs: number): number | undefined => {
  if (typeof value !== "string") return undefined;
  const number = /^\d+$/.test(value) ? Number(value) : undefined;
  if (number !== undefined && number >= 1e12) return number;
  if (number !== undefined) return number >= 1e9 ? number * 1_000 : nowMs + number * 1_000;
  const untilMs = Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : untilMs;
};
