// Builds the snapshot behind the collection, so that after the last response little is left: from the rows as they are
// staged where this process stages all of them, else from each shard once it is staged.

import type { DeflatedBlock } from "../../snapshot/files/gzip/line-blocks.ts";
import type { Row } from "../../snapshot/rows/row.ts";
import type { LeftOut } from "../../snapshot/staging/staged-result.ts";
import type { UnfinishedRun } from "../collect/unfinished-run.ts";
import type { BuildTask } from "./build-task.ts";
import { type BuiltSnapshot, SnapshotBuilder } from "./snapshot-builder.ts";

/** Compressed bytes that may wait for a store that is slower than the service. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/**
 * Delays no request: nothing waits for it before `finish`. What fails meanwhile is done again there, from the shards, and
 * only a failure there counts, so a collection goes on whatever happens here. Call `stop` where it is not finished.
 */
export class BuildAhead {
  readonly #task: BuildTask;
  readonly #staged: Set<number>;
  readonly #maxWaitingBytes: number;
  #builder: SnapshotBuilder;
  /** Takes rows, not shards: the builder has all that is staged. */
  #isLive: boolean;
  /** What is under way. Never rejects. */
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  private constructor(task: BuildTask, { staged, kept }: UnfinishedRun, maxWaitingBytes: number) {
    this.#task = task;
    this.#staged = new Set(staged);
    this.#maxWaitingBytes = maxWaitingBytes;
    this.#builder = new SnapshotBuilder(task);
    this.#isLive = task.isAhead && staged.size === 0 && kept.size === 0;
  }

  /** @param work the plan, and what earlier starts have finished of it */
  static async open(
    task: BuildTask,
    work: UnfinishedRun,
    maxWaitingBytes = MAX_WAITING_BYTES,
  ): Promise<BuildAhead> {
    const build = new BuildAhead(task, work, maxWaitingBytes);
    if (build.#isLive) await build.#builder.readBase();
    return build;
  }

  /** The row of an event at this place of the plan, counted from 0; see `ShardFacts.add`. */
  rowFetched(place: number, row: Row, event: unknown): void {
    if (this.#isLive) this.#builder.rowFetched(place, row, event);
  }

  /** The next rows in the order of the plan, of a shard that is still written. Their text is not used after this returns. */
  async blockStaged(block: DeflatedBlock): Promise<void> {
    if (!this.#isLive) return;
    const builder = this.#builder;
    await builder.addBlock(block).catch((error: unknown) => this.#beginAgainNow(builder, error));
    if (builder.waitingBytes > this.#maxWaitingBytes)
      this.#beginAgainNow(builder, new Error("the store is too slow"));
  }

  /**
   * One more shard is staged.
   * @param leftOut undefined where another process has staged it
   */
  shardStaged(index: number, leftOut: readonly LeftOut[] | undefined): void {
    this.#staged.add(index);
    const builder = this.#builder;
    if (this.#isLive && leftOut !== undefined) {
      const ended = builder.endShard(leftOut);
      const work = ended.catch((error: unknown) => this.#beginAgain(builder, error));
      this.#work = this.#work.then(() => work);
    } else if (this.#isLive) {
      this.#beginAgainNow(builder, new Error("another process works on it"));
    } else if (this.#task.isAhead) {
      this.#work = this.#work.then(() => this.#takeStaged());
    }
  }

  async finish(): Promise<BuiltSnapshot> {
    this.#isOver = true;
    await this.#work;
    return this.#builder.finish();
  }

  /** Leaves nothing that is open. */
  async stop(error: unknown): Promise<void> {
    this.#isOver = true;
    await this.#builder.abort(error); // a shard that waits for the store does not wait any longer
    await this.#work;
    await this.#builder.abort(error);
  }

  async #takeStaged(): Promise<void> {
    const builder = this.#builder;
    try {
      while (!this.#isOver && this.#staged.has(builder.next)) await builder.addShard();
    } catch (error) {
      await this.#beginAgain(builder, error);
    }
  }

  /** Not after the work that is under way: it may wait for the store, and rows would be taken meanwhile. */
  #beginAgainNow(builder: SnapshotBuilder, error: unknown): void {
    const begun = this.#beginAgain(builder, error);
    this.#work = this.#work.then(() => begun);
  }

  /** At the end, from the shards. */
  async #beginAgain(builder: SnapshotBuilder, error: unknown): Promise<void> {
    if (builder !== this.#builder) return;
    this.#isLive = false;
    this.#builder = new SnapshotBuilder(this.#task);
    this.#staged.clear();
    await builder.abort(error);
  }
}
