// What readers see in the catalog, and which snapshots were the head: now and earlier.

import type { GluePartition } from "../warehouse/glue.ts";
import type { SeenRow } from "./reader.ts";

export class Visibility {
  readonly #account: string;
  readonly #now: () => number;
  readonly #lastSeenMs = new Map<string, number>();
  #kept: ReadonlySet<string> = new Set();
  #shown = "";

  constructor(account: string, now: () => number) {
    this.#account = account;
    this.#now = now;
  }

  /** The snapshot of the table `events`; "" where it names no files. */
  get shown(): string {
    return this.#shown;
  }

  shows(snapshotId: string): boolean {
    return snapshotId === this.#shown || this.#kept.has(snapshotId);
  }

  /** Whether a table showed it at or after the instant. */
  wasSeenSince(snapshotId: string, sinceMs: number): boolean {
    return (
      this.shows(snapshotId) || (this.#lastSeenMs.get(snapshotId) ?? Number.NEGATIVE_INFINITY) >= sinceMs
    );
  }

  /** A laptop's views were replaced. */
  onViews(sql: string): void {
    const [events = "", snapshots = ""] = ["events", "event_snapshots"].map((table) => viewIn(sql, table));
    this.#see(this.#idsIn(events)[0] ?? "", new Set(this.#idsIn(snapshots)));
  }

  onPartition(table: string, { values, location }: Pick<GluePartition, "values" | "location">): void {
    const id = values[1] ?? "";
    if (table === "events") this.#see(this.#idsIn(location)[0] ?? "", this.#kept);
    if (table === "event_snapshots") this.#see(this.#shown, new Set([...this.#kept, id]));
  }

  onPartitionRemoved(table: string, values: readonly string[]): void {
    if (table === "events") this.#see("", this.#kept);
    if (table !== "event_snapshots") return;
    this.#see(this.#shown, new Set([...this.#kept].filter((id) => id !== values[1])));
  }

  #idsIn(text: string): readonly string[] {
    const snapshots = new RegExp(`snapshots/${this.#account}/([^/]+)/`, "g");
    return [...text.matchAll(snapshots)].map(([, id = ""]) => id);
  }

  #see(shown: string, kept: ReadonlySet<string>): void {
    for (const id of [this.#shown, ...this.#kept]) this.#lastSeenMs.set(id, this.#now());
    this.#shown = shown;
    this.#kept = kept;
  }
}

function viewIn(sql: string, table: string): string {
  const from = sql.indexOf(`VIEW ${table} AS`);
  return sql.slice(from, sql.indexOf("CREATE OR REPLACE", from));
}

interface Head {
  readonly snapshotId: string;
  readonly rows: readonly SeenRow[];
  readonly fromMs: number;
  untilMs: number;
}

/** Which snapshots were the head, and when. */
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
