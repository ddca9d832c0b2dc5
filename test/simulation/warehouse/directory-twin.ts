// A warehouse in a directory, as one process sees it: the `Store` port over the objects of the world.

import {
  type Body,
  checkKey,
  type Store,
  type StoredKey,
  type StoredObject,
} from "../../../lambdas/job/storage/store.ts";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import { inAnyOrder, type Objects } from "./objects.ts";

export class DirectoryTwin implements Store {
  readonly #objects: Objects;
  readonly #process: SimProcess;

  constructor(objects: Objects, process: SimProcess) {
    this.#objects = objects;
    this.#process = process;
  }

  read(key: string): Promise<StoredObject | undefined> {
    return this.#call(`reads ${key}`, key, () => {
      const found = this.#objects.get(key);
      return found && { bytes: found.bytes.slice(), version: found.version };
    });
  }

  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#call(`opens ${key}`, key, () => this.#objects.get(key)?.bytes);
    return found && inOnePiece(found.slice());
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    checkKey(key);
    const bytes = body instanceof Uint8Array ? body : Buffer.concat(await Array.fromAsync(copies(body)));
    return this.#call(`creates ${key}`, key, () =>
      this.#objects.get(key) === undefined ? this.#put(key, bytes) : undefined,
    );
  }

  copy(from: string, to: string): Promise<boolean> {
    checkKey(from);
    return this.#call(`copies ${from} to ${to}`, to, () => {
      const found = this.#objects.get(from);
      if (found === undefined)
        throw new this.#process.job.SyncError("STORE_FAILED", `There is no ${from} to copy.`);
      if (this.#objects.get(to) !== undefined) return false;
      this.#put(to, found.bytes);
      return true;
    });
  }

  replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    return this.#call(`replaces ${key}`, key, () =>
      this.#objects.get(key)?.version === version ? this.#put(key, bytes) : undefined,
    );
  }

  async *list(prefix: string, after = ""): AsyncIterable<StoredKey> {
    const found = await this.#call(`lists ${prefix}`, undefined, () =>
      this.#objects.keys(prefix, after).flatMap((key) => {
        const found = this.#objects.get(key);
        return found ? [{ key, modifiedAtMs: found.modifiedAtMs, bytes: found.bytes.length }] : [];
      }),
    );
    yield* found;
  }

  /** In an order of its own, and a process may stop between any two. Version 0.1 names one key. */
  async delete(keys: readonly string[] | string): Promise<void> {
    for (const key of inAnyOrder([keys].flat()))
      await this.#call(`deletes ${key}`, key, () => this.#objects.delete(key, this.#process.name));
  }

  #put(key: string, bytes: Uint8Array): string {
    return this.#objects.put(key, bytes, this.#process.name);
  }

  #call<T>(what: string, key: string | undefined, effect: () => T): Promise<T> {
    if (key !== undefined) checkKey(key);
    return this.#process.call("store", what, effect, FAILURES);
  }
}

/** A change that was made and one that was not look alike: an error of the disk does not say whether the change is there. */
const FAILURES: CallFailures = {
  refused: ({ SyncError }) => new SyncError("STORE_FAILED", "The simulated disk failed (EIO)."),
  lost: ({ SyncError }) => new SyncError("STORE_FAILED", "The simulated disk failed (EIO)."),
};

/** A producer may use its buffer again for the next chunk. */
async function* copies(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Uint8Array.from(chunk);
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
