// What happened in a world, line by line. The same seed tells the same story.

import { createHash } from "node:crypto";
import type { Timeline } from "./time/timeline.ts";

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
