// Reads a warehouse as its readers do: from the bytes, by the documented format, with nothing of the job's own code.

import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { Objects, StoredBytes } from "../warehouse/objects.ts";

const publication = z.object({
  publication: z.string(),
  action: z.enum(["run", "accept", "rollback"]),
  snapshot_id: z.string(),
  base_snapshot_id: z.string().nullable(),
  events: z.number(),
  added: z.number(),
  changed: z.number(),
  removed: z.number(),
  run_id: z.string(),
  pinned: z.boolean(),
});
export type SeenPublication = Readonly<z.infer<typeof publication>>;

const row = z.object({ uuid: z.string(), event: z.string(), listing: z.string() });
export type SeenRow = Readonly<z.infer<typeof row>>;

const change = z.object({
  uuid: z.string(),
  change: z.enum(["added", "changed", "removed"]),
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type SeenChange = Readonly<z.infer<typeof change>>;

const leftOut = z.object({ uuid: z.string(), reason: z.string() });
export type SeenLeftOut = Readonly<z.infer<typeof leftOut>>;

const outcome = z.object({
  row: z.object({ run_id: z.string(), outcome: z.string(), error_code: z.string().nullable() }),
});

/** Snapshots never change, so each file is read once. */
const parsed = new WeakMap<StoredBytes, readonly unknown[]>();

export class Reader {
  readonly #warehouse: () => Objects;
  readonly #account: string;

  constructor(warehouse: () => Objects, account: string) {
    this.#warehouse = warehouse;
    this.#account = account;
  }

  get #objects(): Objects {
    return this.#warehouse();
  }

  log(): readonly SeenPublication[] {
    return this.#objects
      .keys(`publications/${this.#account}/`)
      .flatMap((key) => this.#lines(key, publication));
  }

  /** As a table over a snapshot's folder shows it; undefined without a manifest. */
  rows(snapshotId: string): readonly SeenRow[] | undefined {
    const folder = this.snapshotFolder(snapshotId);
    if (this.#objects.get(`${folder}_manifest.json`) === undefined) return undefined;
    return this.#parts(folder, row);
  }

  changes({ publication: n, snapshot_id }: SeenPublication): readonly SeenChange[] {
    return this.#parts(`changes/${this.#account}/${n}/${snapshot_id}/`, change);
  }

  leftOut(snapshotId: string): readonly SeenLeftOut[] {
    return this.#lines(`${this.snapshotFolder(snapshotId)}_left_out.ndjson`, leftOut);
  }

  isHeld(snapshotId: string): boolean {
    return this.#objects.get(`${this.snapshotFolder(snapshotId)}_held.json`) !== undefined;
  }

  outcomeOf(runId: string): z.infer<typeof outcome>["row"] | undefined {
    return this.#lines(`runs/${this.#account}/${runId}/outcome.json`, outcome)[0]?.row;
  }

  snapshotFolder(snapshotId: string): string {
    return `snapshots/${this.#account}/${snapshotId}/`;
  }

  #parts<T>(folder: string, schema: z.ZodType<T>): readonly T[] {
    return this.#objects
      .keys(folder)
      .filter((key) => !key.slice(folder.length).startsWith("_"))
      .flatMap((key) => this.#lines(key, schema));
  }

  #lines<T>(key: string, schema: z.ZodType<T>): readonly T[] {
    const stored = this.#objects.get(key);
    if (stored === undefined) return [];
    const known = parsed.get(stored);
    // What is kept was parsed by the same schema: a key has one format.
    if (known !== undefined) return known.map((value) => schema.parse(value));
    const text = (key.endsWith(".gz") ? gunzipSync(stored.bytes) : Buffer.from(stored.bytes)).toString();
    const lines = text
      .slice(0, -1)
      .split("\n")
      .map((line) => schema.parse(JSON.parse(line)));
    parsed.set(stored, lines);
    return lines;
  }
}
