// Checks that a client sends nothing while a Retry-After lasts.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { SimulatedResponse } from "./simulated-response.ts";

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
