// Tells the progress display what everybody waits for, when nobody is being served.

export interface Wait {
  /** The service asked for it; our own limit; the back-off after a failure. */
  readonly kind: "retry-after" | "budget" | "retry";
  /** By the clock's monotonic reading. */
  readonly untilMs: number;
}

export type OnWait = (wait: Wait | undefined) => void;

interface OpenWait {
  readonly kind: Wait["kind"];
  readonly untilMs: () => number;
}

/** The first kind that somebody waits for is the one that explains the rest. */
const ORDER: readonly Wait["kind"][] = ["retry-after", "budget", "retry"];

export class WaitReporter {
  readonly #open = new Set<OpenWait>();
  readonly #onWait: OnWait;
  #underWay = 0;
  #shown: Wait | undefined;

  constructor(onWait: OnWait = () => undefined) {
    this.#onWait = onWait;
  }

  /** Runs `work`, during which somebody waits. */
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

  /** Runs `work`, during which the service works for us: nothing to explain. */
  async serving<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    this.#show();
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#show();
    }
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
