// Reads a warehouse as its readers do: from the bytes, by the documented format, with nothing of the job's own code.

import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { Objects, StoredBytes } from "../warehouse/objects.ts";

const text = z.string().nullable();

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

const removal = z.object({ action: z.literal("remove"), publication: z.string(), run_id: z.string() });
export type SeenRemoval = Readonly<z.infer<typeof removal>>;

const entry = lines(z.union([publication, removal]));

const row = lines(
  z
    .object({ uuid: z.string(), event_date: text, scope: text, event: z.string(), listing: z.string() })
    .catchall(text),
);
export type SeenRow = Readonly<ReturnType<typeof row>[number]>;

const change = lines(
  z.object({
    uuid: z.string(),
    change: z.enum(["added", "changed", "removed"]),
    before: z.string().nullable(),
    after: z.string().nullable(),
  }),
);
export type SeenChange = Readonly<ReturnType<typeof change>[number]>;

const leftOut = lines(z.object({ uuid: z.string(), reason: z.string() }));
export type SeenLeftOut = Readonly<ReturnType<typeof leftOut>[number]>;

const outcome = lines(
  z.object({
    row: z.object({
      run_id: z.string(),
      outcome: z.string(),
      reason: z.string().nullable(),
      error_code: z.string().nullable(),
    }),
  }),
);
export type SeenOutcome = Readonly<ReturnType<typeof outcome>[number]>["row"];

const file = { bytes: z.number(), sha256: z.string() };
const manifest = z.object({
  counts: z.object({
    listed: z.number(),
    events: z.number(),
    unreadable: z.number().default(0),
    gone: z.number(),
    forbidden: z.number(),
    rejected: z.number(),
  }),
  parts: z.array(z.object({ ...file, file: z.string(), rows: z.number() })),
  stored: z.array(z.object(file)),
  left_out: z.object(file).optional(),
  columns: z.array(z.string()),
  lifted: z.array(z.object({ name: z.string(), pointer: z.string() })),
});
export type SeenManifest = Readonly<z.infer<typeof manifest>>;

const columns = z.object({ columns: z.array(z.object({ name: z.string() })) });

const mark = z.object({
  preview: z.object({
    base_snapshot_id: z.string().nullable(),
    added: z.number().nullable(),
    changed: z.number().nullable(),
    removed: z.number().nullable(),
  }),
});
type SeenPreview = Readonly<z.infer<typeof mark>>["preview"];

function parseJson({ bytes }: StoredBytes): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

/** Reads files of one format; each once, because an object that is replaced is another one. */
function lines<T>(schema: z.ZodType<T>): (stored: StoredBytes, isZipped: boolean) => readonly T[] {
  const known = new WeakMap<StoredBytes, readonly T[]>();
  return (stored, isZipped) => {
    const read = known.get(stored);
    if (read !== undefined) return read;
    const text = (isZipped ? gunzipSync(stored.bytes) : Buffer.from(stored.bytes)).toString();
    const values = text
      .slice(0, -1)
      .split("\n")
      .map((line) => schema.parse(JSON.parse(line)));
    known.set(stored, values);
    return values;
  };
}

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

  /** What counts: all after the last removal. */
  log(): readonly SeenPublication[] {
    const log: SeenPublication[] = [];
    for (const each of this.entries()) {
      if (each.action === "remove") log.length = 0;
      else log.push(each);
    }
    return log;
  }

  /** All that lies there, counting or not. */
  entries(): readonly (SeenPublication | SeenRemoval)[] {
    return this.#objects
      .keysAsWritten(`publications/${this.#account}/`)
      .flatMap((key) => this.#lines(key, entry));
  }

  /** The last one. */
  removal(): SeenRemoval | undefined {
    return this.entries().findLast((each): each is SeenRemoval => each.action === "remove");
  }

  /** As a table over a snapshot's folder shows it; undefined without a manifest. */
  rows(snapshotId: string): readonly SeenRow[] | undefined {
    const folder = this.snapshotFolder(snapshotId);
    if (this.#objects.asWritten(`${folder}_manifest.json`) === undefined) return undefined;
    return this.#parts(folder, row);
  }

  /** Undefined for a snapshot that is not complete. */
  manifest(snapshotId: string): SeenManifest | undefined {
    const stored = this.#objects.asWritten(`${this.snapshotFolder(snapshotId)}_manifest.json`);
    return stored && manifest.parse(parseJson(stored));
  }

  /** The names of the columns that the tables have beyond those of every row. */
  columns(): readonly string[] {
    const stored = this.#objects.asWritten("columns.json");
    return stored === undefined ? [] : columns.parse(parseJson(stored)).columns.map(({ name }) => name);
  }

  changes({ publication: n, snapshot_id, added, changed, removed }: SeenPublication): readonly SeenChange[] {
    if (added + changed + removed === 0) return [];
    return this.#parts(`changes/${this.#account}/${n}/${snapshot_id}/`, change);
  }

  leftOut(snapshotId: string): readonly SeenLeftOut[] {
    return this.#lines(`${this.snapshotFolder(snapshotId)}_left_out.ndjson`, leftOut);
  }

  /** What the mark of a held snapshot says about publishing it; undefined for any other, or where it is damaged. */
  previewOf(snapshotId: string): SeenPreview | undefined {
    const stored = this.#objects.asWritten(`${this.snapshotFolder(snapshotId)}_held.json`);
    return stored && mark.safeParse(parseJson(stored)).data?.preview;
  }

  isHeld(snapshotId: string): boolean {
    return this.#objects.asWritten(`${this.snapshotFolder(snapshotId)}_held.json`) !== undefined;
  }

  outcomeOf(runId: string): SeenOutcome | undefined {
    return this.#lines(`runs/${this.#account}/${runId}/outcome.json`, outcome)[0]?.row;
  }

  snapshotFolder(snapshotId: string): string {
    return `snapshots/${this.#account}/${snapshotId}/`;
  }

  #parts<T>(folder: string, read: (stored: StoredBytes, isZipped: boolean) => readonly T[]): readonly T[] {
    return this.#objects
      .keysAsWritten(folder)
      .filter((key) => !key.slice(folder.length).startsWith("_"))
      .flatMap((key) => this.#lines(key, read));
  }

  #lines<T>(key: string, read: (stored: StoredBytes, isZipped: boolean) => readonly T[]): readonly T[] {
    const stored = this.#objects.asWritten(key);
    return stored === undefined ? [] : read(stored, key.endsWith(".gz"));
  }
}

/** What is wrong with changes from the rows of one snapshot to those of another; undefined: nothing. */
export function wrongIn(
  from: readonly SeenRow[],
  changes: readonly Pick<SeenChange, "uuid" | "before" | "after">[],
  to: readonly SeenRow[],
): string | undefined {
  const folded = new Map(from.map(({ uuid, event }) => [uuid, event]));
  for (const { uuid, before, after } of changes) {
    if ((folded.get(uuid) ?? null) !== before) return "begin with another event";
    if (after === null) folded.delete(uuid);
    else folded.set(uuid, after);
  }
  const isEqual = folded.size === to.length && to.every(({ uuid, event }) => folded.get(uuid) === event);
  return isEqual ? undefined : "lead to other rows";
}
