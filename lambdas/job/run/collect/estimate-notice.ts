// Says in the log how long a run will take: before it starts, and again when the sizes of bodies make it much longer.

import type { Logger } from "../../runtime/logger.ts";
import { type EstimateBudget, estimateText } from "./estimate.ts";

/** A shorter run needs no estimate. */
const WORTH_SAYING_MS = 60_000;

/** So many bodies say how large the others are. */
const SAMPLE = 20;

export class EstimateNotice {
  readonly #budget: EstimateBudget;
  readonly #logger: Logger;
  #saidMs = 0;
  #seen = 0;

  constructor(budget: EstimateBudget, logger: Logger) {
    this.#budget = budget;
    this.#logger = logger;
  }

  begin(events: number): void {
    this.#say(events, this.#budget.waitMs(events));
  }

  /** Called for each event that is done. */
  done(events: number): void {
    this.#seen += 1;
    if (this.#seen !== SAMPLE || this.#budget.use(events).limit !== "bytes") return;
    const ms = this.#budget.waitMs(events);
    if (ms > this.#saidMs * 1.25) this.#say(events, ms);
  }

  #say(events: number, ms: number): void {
    if (ms < WORTH_SAYING_MS) return;
    this.#saidMs = ms;
    this.#logger.info(estimateText(events, this.#budget), { events, seconds: Math.ceil(ms / 1_000) });
  }
}
