// Builds the snapshot behind the collection: each shard once it is staged, so that after the last response only the last
// shard is left.

import { type BuildTask, type BuiltSnapshot, SnapshotBuilder } from "./snapshot-builder.ts";

/**
 * Delays no request: nothing waits for it before `finish`. What fails meanwhile is done again there, and only a failure
 * there counts, so a collection goes on whatever happens here. Call `stop` where it is not finished.
 */
export class BuildAhead {
  readonly #task: BuildTask;
  readonly #staged: Set<number>;
  #builder: SnapshotBuilder;
  /** What is under way. Never rejects. */
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  /** @param staged the shards that an earlier start has staged */
  constructor(task: BuildTask, staged: Iterable<number>) {
    this.#task = task;
    this.#staged = new Set(staged);
    this.#builder = new SnapshotBuilder(task);
  }

  /** One more shard is staged. Shards are taken in the order of the plan, in the background. */
  shardStaged(index: number): void {
    this.#staged.add(index);
    this.#work = this.#work.then(() => this.#takeStaged());
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
    try {
      while (!this.#isOver && this.#staged.has(this.#builder.next)) await this.#builder.addShard();
    } catch (error) {
      await this.#builder.abort(error);
      this.#builder = new SnapshotBuilder(this.#task);
      this.#staged.clear();
    }
  }
}
