// Virtual time: what happens next, and when. Nothing waits for a real clock. And the story of it, line by line: the same seed
// tells the same one.

import { createHash } from "node:crypto";
import { setImmediate as settled } from "node:timers/promises";

interface Happening {
  readonly atMs: number;
  /** Of two at one instant, the one that was planned first comes first. */
  readonly order: number;
  readonly happen: () => void;
}

export class Timeline {
  #nowMs: number;
  #planned = 0;
  readonly #heap: Happening[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  /** Milliseconds since the Unix epoch, by the true clock of the world. */
  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, happen: () => void): void {
    this.#planned += 1;
    this.#add({ atMs: Math.max(atMs, this.#nowMs), order: this.#planned, happen });
  }

  /** Lets things happen one by one until `isOver`; false where nothing more is planned before. */
  async runUntil(isOver: () => boolean): Promise<boolean> {
    // Code that a happening has woken goes on until it waits for the timeline again: streams and promises need no I/O.
    for (await settled(); !isOver(); await settled()) {
      const next = this.#takeFirst();
      if (next === undefined) return false;
      this.#nowMs = next.atMs;
      next.happen();
    }
    return true;
  }

  #add(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(happening, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = happening;
  }

  #takeFirst(): Happening | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = heap[below];
      const right = heap[below + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        below += 1;
        child = right;
      }
      if (child === undefined || !isBefore(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (a: Happening, b: Happening): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** What happened in a world. */
export class Story {
  readonly #timeline: Timeline;
  readonly #startMs: number;
  readonly #lines: string[] = [];

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.#startMs = timeline.nowMs;
  }

  tell(who: string, what: string, outcome?: { readonly value: unknown } | { readonly error: unknown }): void {
    this.#lines.push(`${this.#elapsed()} ${who} ${what}${outcome === undefined ? "" : ended(outcome)}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Of every line: two runs of one seed have the same one. */
  digest(): string {
    return createHash("sha256").update(this.#lines.join("\n")).digest("hex");
  }

  #elapsed(): string {
    const ms = this.#timeline.nowMs - this.#startMs;
    const seconds = Math.floor(ms / 1_000);
    const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) => Math.floor(part));
    const [hours = 0, ...rest] = parts;
    const thousandths = String(Math.floor(ms % 1_000)).padStart(3, "0");
    return `${hours}:${rest.map((part) => String(part).padStart(2, "0")).join(":")}.${thousandths}`;
  }
}

function ended(outcome: { readonly value: unknown } | { readonly error: unknown }): string {
  if ("error" in outcome) {
    const { error } = outcome;
    return ` ✗ ${error instanceof Error ? error.name : String(error)}`;
  }
  const { value } = outcome;
  if (value === undefined) return " → nothing";
  return typeof value === "string" || typeof value === "number" ? ` → ${String(value).slice(0, 12)}` : "";
}
