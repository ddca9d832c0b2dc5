// The plan of a run: its frozen, sorted work. Written once; a process that finds one uses it.

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { damaged, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { logMarkSchema } from "../../storage/log-mark.ts";
import type { AccountStore, Store } from "../../storage/store.ts";
import { gzipLines, lineBytes, readLines } from "../files/gzip-lines.ts";
import { doubtSchema } from "../files/manifest.ts";
import { fitsRow } from "../rows/row.ts";

/** Lines that are made without a pause: the lease is renewed, and signals are heard, in between. */
const UNPAUSED_LINES = 100;

const count = z.int().nonnegative();

/** Raise it with the form of plans, or of rows: when the same responses of the service would give other rows than before. */
const VERSION = 2;

const HEADER = z.object({
  version: z.literal(VERSION),
  run_id: z.string(),
  account: z.string(),
  /** What started the run. Absent in plans of earlier versions. */
  trigger: z.enum(["schedule", "manual"]).default("manual"),
  /** The start was told to restart: the process that publishes may be another one, of an execution. */
  restart: z.literal(true).optional(),
  /** Where the publication log ended when the run began; null: it had no entry. Absent in plans of earlier versions. */
  log_end: logMarkSchema.nullable().optional(),
  fingerprint: z.string(),
  created_at: z.iso.datetime(),
  listed: count,
  rejected: count,
  repeated: count,
  readings: z.int().positive(),
  unstable: count,
  events: count,
  sha256: z.string(),
  /** Absent where something says that the list is whole, and in plans of earlier versions. */
  doubt: doubtSchema.optional(),
  /** The settings that the fingerprint is of, for a person; absent in plans of earlier versions. */
  shape: z
    .object({
      base_url: z.string(),
      is_listed: z.string(),
      list_pointer: z.string().nullable(),
      next_page: z.string().optional(),
      detail_pointer: z.string().nullable(),
      /** The lifted columns as the option has them. */
      lift: z.array(z.string()).readonly(),
    })
    .readonly()
    .optional(),
});
/** The header of a plan of any version. */
const ANY_HEADER = z.object({ version: z.int().positive() });

const EVENT = z.object({
  uuid: z.string(),
  requestAs: z.string().optional(),
  listing: z.string(),
  isOversize: z.literal(true).optional(),
});

/** The first line of the file. `listed` = `events` + `rejected`; `sha256` is that of the lines that follow. */
type PlanHeader = Readonly<z.infer<typeof HEADER>>;

export type ShapingSettings = NonNullable<PlanHeader["shape"]>;

export interface PlannedEvent {
  /** Lower case. */
  readonly uuid: string;
  /** The uuid as it was listed. */
  readonly requestAs: string;
  /** The list entry as JSON text. */
  readonly listing: string;
  /** The list entry alone is longer than a row may be: it is not kept, and the event is left out unfetched. */
  readonly isOversize?: true;
}

export interface Plan {
  readonly header: PlanHeader;
  /** The events from a place on, counted from 0, sorted by uuid, each one once. */
  events(from: number): Generator<PlannedEvent, void>;
}

/**
 * What a plan is made of. `rejected` counts list entries without a valid uuid, `repeated` the collapsed ones, `readings` how
 * often the list was read, and `unstable` the events that the readings do not agree about; of a single one as many as may be
 * missing.
 */
export interface PlanDraft extends Omit<PlanHeader, "version" | "listed" | "events" | "sha256"> {
  /** Sorted by uuid, each one once. */
  readonly events: Iterable<PlannedEvent>;
}

/**
 * Creates the plan and returns it, or the one that exists already. Throws `STORE_CORRUPT` when that one is damaged or
 * another run's; comparing its fingerprint is up to the caller.
 */
export async function createPlan(store: Store, key: string, { events, ...draft }: PlanDraft): Promise<Plan> {
  const lines = new CompressedLines();
  let previous = "";
  for (const event of events) {
    if (lines.length % UNPAUSED_LINES === 0) await setImmediate();
    if (event.uuid <= previous)
      throw new Error("the events of a draft are sorted, each uuid once, and these are not");
    previous = event.uuid;
    lines.add(eventLine(event));
  }
  const header: PlanHeader = {
    version: VERSION,
    ...draft,
    listed: lines.length + draft.rejected,
    events: lines.length,
    sha256: lines.sha256(),
  };

  const created = await store.create(key, gzipLines(planLines(header, lines)));
  if (created !== undefined) return planOf(key, header, lines);

  const standing = await readPlan(store, key);
  if (standing?.header.account !== draft.account || standing.header.run_id !== draft.run_id)
    throw bad(key, "it is the plan of another run, or of another version");
  return standing;
}

/** Undefined for the plan of another version of the program. Throws `STORE_CORRUPT` when there is none, or it is not whole. */
export async function readPlan(store: Store, key: string): Promise<Plan | undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw bad(key, "it is missing");
  const lines = new CompressedLines();
  let header: PlanHeader | undefined;
  for await (const line of readLines(chunks, key, remedy(key))) {
    if (header !== undefined) lines.add(line);
    else header = headerOf(line, key);
    if (header === undefined) return undefined;
  }
  if (header === undefined) throw bad(key, "it has no header");
  if (header.events !== lines.length) throw bad(key, "its header counts another number of events");
  if (header.listed !== header.events + header.rejected) throw bad(key, "its header's counts do not add up");
  if (header.sha256 !== lines.sha256()) throw bad(key, "its checksum does not match");
  return planOf(key, header, lines);
}

/**
 * What started a run: `manual` where its plan is missing or of another version, or its first line is damaged. Reads no
 * further, as each turn of an execution asks.
 */
export async function plannedTrigger(store: AccountStore, runId: string): Promise<PlanHeader["trigger"]> {
  const header = await readHeader(store, store.keys.plan(runId)).catch(undefinedIfDamaged);
  return header?.trigger ?? "manual";
}

export async function hasPlan(store: AccountStore, runId: string): Promise<boolean> {
  const key = store.keys.plan(runId);
  for await (const found of store.list(key)) if (found.key === key) return true;
  return false;
}

async function readHeader(store: Store, key: string): Promise<PlanHeader | undefined> {
  const chunks = await store.open(key);
  for await (const line of chunks ? readLines(chunks, key, remedy(key)) : []) return headerOf(line, key);
  return undefined;
}

/** Undefined for that of another version of the program. */
function headerOf(line: string, key: string): PlanHeader | undefined {
  return parse(line, ANY_HEADER, key).version === VERSION ? parse(line, HEADER, key) : undefined;
}

function planOf(key: string, header: PlanHeader, lines: CompressedLines): Plan {
  return {
    header,
    *events(from) {
      for (const line of lines.from(from)) {
        const { uuid, requestAs = uuid, listing, isOversize } = parse(line, EVENT, key);
        yield { uuid, requestAs, listing, ...(isOversize ? { isOversize } : {}) };
      }
    },
  };
}

function* planLines(header: PlanHeader, lines: CompressedLines): Generator<string> {
  yield jsonLine(header);
  yield* lines.from(0);
}

function eventLine({ uuid, requestAs, listing }: PlannedEvent): string {
  // Escaped as JSON once more, the largest list entry could be longer than the longest string.
  const kept = fitsRow({ listing }) ? { listing } : { listing: "", isOversize: true };
  return jsonLine(requestAs === uuid ? { uuid, ...kept } : { uuid, requestAs, ...kept });
}

function parse<Schema extends z.ZodType>(line: string, schema: Schema, key: string): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw bad(key, "it holds a line that is not JSON"); // the parser's own error quotes the line
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw bad(key, `${issue?.path.join(".") || "a line"}: ${issue?.message ?? "unexpected"}`);
}

function bad(key: string, problem: string): Error {
  return damaged(key, problem, remedy(key));
}

// A new plan would not fit the staged work of the old one, so the whole run is deleted.
function remedy(key: string): string {
  return `Delete the whole folder ${key.slice(0, key.lastIndexOf("/") + 1)} and start again.`;
}

/** Lines that are compressed together. */
const CHUNK_LINES = 1_000;
const FIRST_CAPACITY = 64 * 1024;
const NEWLINE = 0x0a;

export class CompressedLines {
  readonly #hash = createHash("sha256");
  readonly #chunks: Uint8Array[] = [];
  /** The last chunk, while it is not full. */
  #open = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #openBytes = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Hexadecimal, of all lines so far with their newlines. */
  sha256(): string {
    return this.#hash.copy().digest("hex");
  }

  /** @param line without its newline */
  add(line: string): void {
    const start = this.#openBytes;
    const end = start + lineBytes(line);
    if (end > this.#open.length) this.#grow(end);
    this.#open.write(line, start);
    this.#open.writeUInt8(NEWLINE, end - 1);
    this.#hash.update(this.#open.subarray(start, end));
    this.#openBytes = end;
    this.#length += 1;
    if (this.#length % CHUNK_LINES !== 0) return;
    // Higher levels take several times as long and save a tenth.
    this.#chunks.push(deflateRawSync(this.#open.subarray(0, end), { level: 1 }));
    this.#openBytes = 0;
  }

  /** The lines from a place on, without their newlines. */
  *from(place: number): Generator<string, void> {
    let skipped = place % CHUNK_LINES;
    for (let chunk = Math.floor(place / CHUNK_LINES); chunk <= this.#chunks.length; chunk += 1) {
      const deflated = this.#chunks[chunk];
      const bytes = deflated ? inflateRawSync(deflated) : this.#open.subarray(0, this.#openBytes);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        if (skipped > 0) skipped -= 1;
        else yield bytes.toString("utf8", start, end);
        start = end + 1;
      }
    }
  }

  #grow(needed: number): void {
    const open = Buffer.allocUnsafeSlow(Math.max(needed, this.#open.length * 2));
    this.#open.copy(open, 0, 0, this.#openBytes);
    this.#open = open;
  }
}
