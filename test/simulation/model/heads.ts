// Which snapshots were the head, and when.

import type { SeenRow } from "./reader.ts";

interface Head {
  readonly snapshotId: string;
  readonly rows: readonly SeenRow[];
  readonly fromMs: number;
  untilMs: number;
}

export class Heads {
  readonly #now: () => number;
  readonly #all: Head[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The rows of each that ever was, whatever has become of its files. */
  get rows(): readonly (readonly SeenRow[])[] {
    return this.#all.map(({ rows }) => rows);
  }

  begin(snapshotId: string, rows: readonly SeenRow[]): void {
    this.end();
    this.#all.push({ snapshotId, rows, fromMs: this.#now(), untilMs: Number.POSITIVE_INFINITY });
  }

  /** The account is removed, or another one begins. */
  end(): void {
    const last = this.#all.at(-1);
    if (last) last.untilMs = Math.min(last.untilMs, this.#now());
  }

  /** Whether it became the head before the one instant and was it after the other. */
  hadBefore(snapshotId: string, beforeMs: number, afterMs: number): boolean {
    return this.#all.some(
      (head) => head.snapshotId === snapshotId && head.fromMs < beforeMs && head.untilMs > afterMs,
    );
  }
}
