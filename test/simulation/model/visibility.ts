// What readers see in the catalog: the snapshot of `events`, and those of `event_snapshots`, now and recently.

import type { GluePartition } from "../warehouse/glue-tables.ts";

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
