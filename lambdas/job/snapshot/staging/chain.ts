// What is staged of a plan: ranges of it, one after the other from its beginning. A range is a file of rows that one
// process has written, and a record that is created once.
//
// The record at a place says where the next one begins. So the records are a chain, whichever processes made them: of two
// that collect the same events one creates the record, and the rows of the other one are never used.

import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { damaged } from "../../errors/sync-error.ts";
import { batches, inOrder } from "../../storage/batches.ts";
import { type AccountStore, readJson, type StoredKey, writeJsonOnce } from "../../storage/store.ts";
import { Checksum, readLines } from "../files/gzip-lines.ts";
import { type LeftOutReason, leftOutSchema } from "../files/manifest.ts";
import type { Plan } from "./plan.ts";

interface StagedRow {
  readonly uuid: string;
  readonly line: string;
}

/** The result of one event: a row's line, or why there is none. */
export type StagedResult =
  | StagedRow
  | { readonly uuid: string; readonly leftOut: LeftOutReason; readonly isUnconfirmed: boolean };

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const ROWS = z.object({
  // Becomes part of a key, so nothing else passes: a damaged record must not point elsewhere.
  file: z.string().regex(/^rows-\d+-[\w-]+\.ndjson\.gz$/),
  rows: z.int().positive(),
  bytes: z.int().positive(),
  sha256,
  /** The file as it lies in the store. */
  stored: z.object({ bytes: z.int().positive(), sha256 }),
});

const RECORD = z
  .object({
    /** The checksum of the plan. */
    plan: sha256,
    /** The first planned event that it covers, counted from 0. */
    place: count,
    /** The first one that it does not cover. */
    end: z.int().positive(),
    /** Null where all events of the range are left out. */
    rows: ROWS.nullable(),
    left_out: z.array(leftOutSchema).readonly(),
    /** Some of these were left out because of one answer: so many were missing that the snapshot was to be held. */
    unconfirmed: z.literal(true).optional(),
  })
  .refine(({ place, end, rows, left_out }) => end - place === (rows?.rows ?? 0) + left_out.length, {
    path: ["end"],
    error: "its events do not add up",
  });

export type RangeRecord = Readonly<z.infer<typeof RECORD>>;
export type RangeRows = Readonly<z.infer<typeof ROWS>>;

/** No run can go on with such a file, so the run fails, and the next start makes a new one. */
const NEW_RUN = "Start again: a new run begins, and fetches its events again.";

const OTHER_EVENTS = "its events are not those of the plan";

/** How many records are read at the same time. */
const AT_ONCE = 16;

export class Chain {
  readonly plan: Plan;
  readonly #store: AccountStore;
  readonly #records: RangeRecord[] = [];

  /** A chain with nothing staged. */
  constructor(store: AccountStore, plan: Plan) {
    this.#store = store;
    this.plan = plan;
  }

  /**
   * What earlier processes have recorded. Throws `STORE_CORRUPT` where a record is damaged, or the file of rows that it
   * names is gone or has another size.
   * @param files of the run, as they are listed
   */
  static async read(store: AccountStore, plan: Plan, files: readonly StoredKey[]): Promise<Chain> {
    const chain = new Chain(store, plan);
    const sizes = new Map(files.map(({ key, bytes }) => [key, bytes]));
    const first = `${store.keys.run(plan.header.run_id)}record-`;
    const keys = [...sizes.keys()].filter((key) => key.startsWith(first));
    const records = new Map<number, RangeRecord>();
    for await (const record of inOrder(batches(keys, AT_ONCE), (key) => readRecord(store, key, plan)))
      if (record) records.set(record.place, record);
    for (let next = records.get(0); next !== undefined; next = records.get(chain.end)) {
      const key = next.rows && chain.keyOf(next.rows);
      if (key && sizes.get(key) !== next.rows?.stored.bytes)
        throw damaged(
          key,
          sizes.has(key) ? "it has another size than its record says" : "it is missing",
          NEW_RUN,
        );
      chain.#records.push(next);
    }
    return chain;
  }

  /** The records in the order of the plan. */
  get records(): readonly RangeRecord[] {
    return this.#records;
  }

  /** The place of the first event that is not staged, counted from 0. */
  get end(): number {
    return this.#records.at(-1)?.end ?? 0;
  }

  get isComplete(): boolean {
    return this.end === this.plan.header.events;
  }

  keyOf({ file }: Pick<RangeRows, "file">): string {
    return `${this.#store.keys.run(this.plan.header.run_id)}${file}`;
  }

  /**
   * Creates the record of a range that begins at the end of the chain. False where another process was first: the chain
   * then has what that one has recorded.
   */
  async add(range: Omit<RangeRecord, "plan" | "place">): Promise<boolean> {
    const { run_id: runId, sha256: plan } = this.plan.header;
    const place = this.end;
    const record = { plan, place, ...range };
    const key = this.#store.keys.record(runId, place);
    if (await writeJsonOnce(this.#store, key, record)) {
      this.#records.push(record);
      return true;
    }
    const standing = await readRecord(this.#store, key, this.plan);
    // A try of our own whose answer was lost.
    if (isDeepStrictEqual(standing, record)) {
      this.#records.push(record);
      return true;
    }
    for (let next = standing; next !== undefined; ) {
      this.#records.push(next);
      next = await readRecord(this.#store, this.#store.keys.record(runId, this.end), this.plan);
    }
    return false;
  }

  /**
   * Reads the rows of a range that another process has recorded. Throws `STORE_CORRUPT` unless they are what the record
   * says, of the events of the plan; most of that shows only at the end.
   * @param onRow called with each row, and the key of its file
   */
  async verify(
    { place, end, rows, left_out: leftOut }: RangeRecord,
    onRow: (line: string, key: string) => void,
  ): Promise<void> {
    const withoutRow = new Set(leftOut.map(({ uuid }) => uuid));
    const key = rows ? this.keyOf(rows) : this.#store.keys.record(this.plan.header.run_id, place);
    const bad = (problem: string): Error => damaged(key, problem, NEW_RUN);
    const lines = rows ? this.#linesOf(key, rows) : noLines();
    try {
      let at = place;
      for (const { uuid } of this.plan.events(place)) {
        if (at === end) break;
        if (!withoutRow.delete(uuid)) {
          const { value: line } = await lines.next();
          if (!line?.startsWith(`{"uuid":"${uuid}"`)) throw bad(OTHER_EVENTS);
          onRow(line, key);
        }
        at += 1;
      }
      if (!(await lines.next()).done || withoutRow.size > 0) throw bad(OTHER_EVENTS);
    } finally {
      await lines.return(undefined);
    }
  }

  async *#linesOf(key: string, expected: RangeRows): AsyncGenerator<string, undefined> {
    const chunks = await this.#store.open(key);
    if (chunks === undefined) throw damaged(key, "it is missing", NEW_RUN);
    const [text, file] = [new Checksum(), new Checksum()];
    yield* readLines(file.over(chunks), key, NEW_RUN, text);
    if (isDeepStrictEqual(file.result(), expected.stored) && text.result().sha256 === expected.sha256) return;
    throw damaged(key, "its checksum is not the one in its record", NEW_RUN);
  }
}

async function* noLines(): AsyncGenerator<string, undefined> {}

/** Undefined where there is none. Throws `STORE_CORRUPT`. */
async function readRecord(store: AccountStore, key: string, plan: Plan): Promise<RangeRecord | undefined> {
  const record = await readJson(store, key, RECORD);
  if (record === undefined) return undefined;
  const { run_id: runId, sha256, events } = plan.header;
  if (record.plan !== sha256) throw damaged(key, "it belongs to another plan", NEW_RUN);
  if (key !== store.keys.record(runId, record.place)) throw damaged(key, "it names another place", NEW_RUN);
  if (record.end > events) throw damaged(key, "it ends behind the plan", NEW_RUN);
  return record;
}
