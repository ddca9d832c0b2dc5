// Reports to the progress display what the run waits for while no request is under way.

export interface Wait {
  /** The service asked for it; it refused a request as one too many; the rate limiter; the back-off after a failure. */
  readonly kind: "retry-after" | "throttled" | "budget" | "retry";
  /** By the monotonic clock. */
  readonly untilMs: number;
}

export type OnWait = (wait: Wait | undefined) => void;

interface OpenWait {
  readonly kind: Wait["kind"];
  readonly untilMs: () => number;
}

/** The first kind among the open waits explains the others. */
const ORDER: readonly Wait["kind"][] = ["retry-after", "throttled", "budget", "retry"];

export class WaitReporter {
  readonly #open = new Set<OpenWait>();
  readonly #onWait: OnWait;
  #underWay = 0;
  #shown: Wait | undefined;

  constructor(onWait: OnWait = () => undefined) {
    this.#onWait = onWait;
  }

  /** Runs `work`, which is a wait. */
  async during<T>(kind: Wait["kind"], untilMs: () => number, work: () => Promise<T>): Promise<T> {
    const wait = { kind, untilMs };
    this.#open.add(wait);
    this.#show();
    try {
      return await work();
    } finally {
      this.#open.delete(wait);
      this.#show();
    }
  }

  /** While a request is under way, no wait is reported. */
  requestBegins(): void {
    this.#underWay += 1;
    this.#show();
  }

  requestEnds(): void {
    this.#underWay -= 1;
    this.#show();
  }

  #show(): void {
    const wait = this.#underWay > 0 ? undefined : this.#foremost();
    if (wait?.kind === this.#shown?.kind && wait?.untilMs === this.#shown?.untilMs) return;
    this.#shown = wait;
    this.#onWait(wait);
  }

  #foremost(): Wait | undefined {
    for (const kind of ORDER) {
      const ends = [...this.#open].filter((wait) => wait.kind === kind).map((wait) => wait.untilMs());
      if (ends.length > 0) return { kind, untilMs: Math.min(...ends) };
    }
    return undefined;
  }
}
