// The first half of PUBLISH: the rows of a plan's shards, one shard after the other, become parts, digests, left-out list
// and manifest. It may begin while later shards are still collected.

import { SyncError } from "../../errors/sync-error.ts";
import { AddedAhead, type AddedFile } from "../../snapshot/compare/added-ahead.ts";
import { KeptRows, keptRows } from "../../snapshot/compare/kept-rows.ts";
import { FieldProfiler } from "../../snapshot/fields/field-profile.ts";
import { type Incomplete, RequiredFields } from "../../snapshot/fields/required-fields.ts";
import { damaged, MAKE_AGAIN } from "../../snapshot/files/damaged.ts";
import type { DeflatedBlock, LineBlock } from "../../snapshot/files/gzip/line-blocks.ts";
import { writeLeftOut } from "../../snapshot/files/left-out.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import { PartWriter } from "../../snapshot/files/part-writer.ts";
import { parseRow, type Row } from "../../snapshot/rows/row.ts";
import { readShard } from "../../snapshot/staging/shard.ts";
import type { LeftOut } from "../../snapshot/staging/staged-result.ts";
import { layout } from "../../storage/layout.ts";
import type { BuildTask } from "./build-task.ts";
import { ShardFacts } from "./shard-facts.ts";
import { writeManifest } from "./write-manifest.ts";

export interface BuiltSnapshot {
  readonly manifest: Manifest;
  /** The rows that differ from the base; undefined where there is no row. */
  readonly kept: KeptRows | undefined;
  readonly incomplete: Incomplete;
  /** The changes, where there is no base and they are known already. */
  readonly added: AddedFile | undefined;
}

/**
 * A snapshot is a pure function of plan and shards, but for the manifest's timings. Call `abort` where it is not
 * finished: it leaves nothing of a part that is open. Parts before that one stay, as write-once files that the next
 * builder of this run verifies and takes.
 */
export class SnapshotBuilder {
  readonly #task: BuildTask;
  readonly #parts: PartWriter;
  readonly #leftOut: LeftOut[] = [];
  readonly #fields = new FieldProfiler();
  readonly #digests: Uint8Array[] = [];
  readonly #required: RequiredFields;
  #kept: KeptRows | undefined;
  /** Of shards that are being fetched. */
  readonly #open = new Map<number, ShardFacts>();
  readonly #added: AddedAhead | undefined;
  #next = 0;

  constructor(task: BuildTask) {
    const { ports, settings, plan, base } = task;
    this.#task = task;
    if (base === null) this.#added = new AddedAhead(plan.header.events);
    this.#required = new RequiredFields(settings.require);
    this.#parts = new PartWriter({
      store: ports.store,
      key: (index) => layout.part(settings.account, plan.header.run_id, index),
    });
  }

  /** The index of the shard that comes next. */
  get next(): number {
    return this.#next;
  }

  /** Compressed: what the store has not taken yet, and memory holds. */
  get waitingBytes(): number {
    return this.#parts.waitingBytes;
  }

  /** Reads and verifies the next shard, which must be staged, and takes it. */
  async addShard(): Promise<void> {
    const { ports, settings, plan } = this.#task;
    ports.signal.throwIfAborted();
    await this.readBase();
    const index = this.#next;
    const expected = plan.shard(index).map(({ uuid }) => uuid);
    const key = layout.shard(settings.account, plan.header.run_id, index);
    const facts = this.#factsOf(index);
    const rows = readShard(ports.store, key, index, expected, (line, place) => look(facts, line, place, key));
    const leftOut: LeftOut[] = [];
    for await (const block of collecting(rows, leftOut)) {
      await this.#parts.append(block);
      await this.#parts.release();
    }
    await this.endShard(leftOut);
  }

  /** Before `rowFetched`. Throws `STORE_FAILED`. */
  async readBase(): Promise<void> {
    const { ports, settings, base } = this.#task;
    this.#kept ??= await keptRows(ports.store, settings.account, base);
  }

  /** The row of an event at this place of the plan, counted from 0; see `ShardFacts.add`. */
  rowFetched(place: number, row: Row, event: unknown): void {
    const { shard_size: size } = this.#task.plan.header;
    this.#factsOf(Math.floor(place / size)).add(place % size, row, event);
  }

  /** Rows of the next shard, each of which was fetched. Nothing of them is in the store before `endShard`. */
  async addBlock(block: DeflatedBlock): Promise<void> {
    await this.#parts.append(block);
    await this.#added?.add(block.text);
  }

  /** All rows of the next shard are there, and it is staged. Returns when the store has taken them. */
  async endShard(leftOut: readonly LeftOut[]): Promise<void> {
    const { fields, required, digests } = this.#factsOf(this.#next);
    this.#open.delete(this.#next);
    this.#fields.addAll(fields);
    this.#required.addAll(required);
    this.#digests.push(digests.records);
    this.#leftOut.push(...leftOut);
    this.#next += 1;
    await this.#parts.release();
  }

  /** Takes the other shards, and makes the snapshot whole. */
  async finish(): Promise<BuiltSnapshot> {
    const { ports, settings, plan } = this.#task;
    const { account } = settings;
    const { run_id: runId, events: planned } = plan.header;
    while (this.#next < plan.shards) await this.addShard();
    const parts = await this.#parts.finish();
    const leftOutFile = await writeLeftOut(ports.store, layout.leftOut(account, runId), this.#leftOut);
    const events = parts.reduce((sum, part) => sum + part.rows, 0);
    if (events + this.#leftOut.length !== planned) throw incomplete(planned, events, this.#leftOut.length);
    const digests = Buffer.concat(this.#digests);
    const profile = this.#fields.profile();
    const made = { parts, leftOut: this.#leftOut, leftOutFile, digests, profile };
    const manifest = await writeManifest(this.#task, made);
    const added = await this.#added?.file(events);
    return { manifest, kept: this.#kept, incomplete: this.#required.incomplete, added };
  }

  async abort(error: unknown): Promise<void> {
    await this.#parts.abort(error);
  }

  #factsOf(index: number): ShardFacts {
    const { settings, plan } = this.#task;
    const kept = this.#kept ?? new KeptRows(undefined);
    const facts = this.#open.get(index) ?? new ShardFacts(plan.sizeOf(index), settings.require, kept);
    this.#open.set(index, facts);
    return facts;
  }
}

function look(facts: ShardFacts, line: string, place: number, key: string): void {
  try {
    const row = parseRow(line);
    facts.add(place, row, JSON.parse(row.event));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof SyncError)) throw error;
    throw damaged(key, "it holds a row that cannot be read", MAKE_AGAIN); // the parser's own error quotes it
  }
}

async function* collecting(
  rows: ReturnType<typeof readShard>,
  leftOut: LeftOut[],
): AsyncGenerator<LineBlock> {
  const trailer = yield* rows;
  leftOut.push(...trailer.left_out);
}

function incomplete(planned: number, events: number, leftOut: number): SyncError {
  return new SyncError(
    "SNAPSHOT_INCOMPLETE",
    `Of ${planned} planned events ${events} have a row and ${leftOut} were left out: they do not add up, so nothing is published. Start again with --fresh.`,
    { fields: { planned, events, left_out: leftOut } },
  );
}
