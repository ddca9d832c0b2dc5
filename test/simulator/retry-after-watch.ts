// Whether a client keeps quiet while a Retry-After lasts that it was told.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { SimulatedResponse } from "./simulated-response.ts";

/**
 * What is on its way when the answer leaves is no fault of the client's. With both in one process, turns of the
 * event loop measure that better than time: new connections are accepted about one a turn.
 */
const TURNS_UNTIL_READ = 200;

export class RetryAfterWatch {
  #untilMs = 0;

  lasts(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** Takes note of an answer that leaves now; it binds the client from the moment on at which it can have read it. */
  async sent(headers: SimulatedResponse["headers"], nowMs: number): Promise<void> {
    const untilMs = end(headers["retry-after"], nowMs);
    if (untilMs === undefined) return;
    for (let turn = 0; turn < TURNS_UNTIL_READ; turn += 1) await nextTurn();
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}

/** RFC 9110 §10.2.3: seconds or an HTTP-date. */
const end = (value: string | readonly string[] | undefined, nowMs: number): number | undefined => {
  if (typeof value !== "string") return undefined;
  const untilMs = /^\d+$/.test(value) ? nowMs + Number(value) * 1_000 : Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : untilMs;
};
