// The store's twin in memory: the same contract as the directory, without a disk.

import { createHash } from "node:crypto";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import {
  type Body,
  checkKey,
  type Store,
  type StoredKey,
  type StoredObject,
} from "../../../lambdas/job/storage/store.ts";

interface Entry extends StoredObject, Pick<StoredKey, "archivedAs"> {
  readonly modifiedAtMs: number;
}

const CHUNK_BYTES = 64 * 1024;

export class MemoryStore implements Store {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Pick<Clock, "now">;
  /** All keys in order; undefined where one was added or deleted since. */
  #sorted: readonly string[] | undefined;

  constructor(clock: Pick<Clock, "now"> = { now: () => 0 }) {
    this.#clock = clock;
  }

  /** All keys, in order. */
  keys(prefix = ""): readonly string[] {
    this.#sorted ??= [...this.#entries.keys()].sort();
    const sorted = this.#sorted;
    const from = firstFrom(sorted, prefix);
    // In code units nothing sorts after U+FFFF.
    return sorted.slice(from, firstFrom(sorted, `${prefix}\uffff`));
  }

  /** The object as text, or undefined where there is none. */
  text(key: string): string | undefined {
    const entry = this.#entries.get(key);
    return entry && new TextDecoder().decode(entry.bytes);
  }

  /** Puts what a test says at the key, whatever is there: damage, another process, an older version. */
  put(key: string, content: string | Uint8Array): void {
    this.#set(key, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }

  /** As a lifecycle rule of a bucket does: a list names the storage class, and a read fails. */
  archive(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) this.#entries.set(key, { ...entry, archivedAs: "GLACIER" });
  }

  async read(key: string): Promise<StoredObject | undefined> {
    const entry = this.#readable(key);
    return entry && { bytes: entry.bytes.slice(), version: entry.version };
  }

  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const bytes = this.#readable(key)?.bytes;
    return bytes && chunks(bytes);
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    checkKey(key);
    const bytes = body instanceof Uint8Array ? body.slice() : await collect(body);
    // No await from here on: the first caller wins, as with a conditional PUT.
    return this.#entries.has(key) ? undefined : this.#set(key, bytes);
  }

  async copy(from: string, to: string): Promise<boolean> {
    checkKey(to);
    const entry = this.#readable(from);
    if (entry === undefined)
      throw new SyncError("STORE_FAILED", `Could not copy ${from}: it does not exist.`);
    if (this.#entries.has(to)) return false;
    this.#set(to, entry.bytes);
    return true;
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    checkKey(key);
    return this.#entries.get(key)?.version === version ? this.#set(key, bytes.slice()) : undefined;
  }

  async *list(prefix: string, after = ""): AsyncIterable<StoredKey> {
    for (const key of this.keys(prefix)) {
      const entry = this.#entries.get(key);
      if (key <= after || entry === undefined) continue;
      const { modifiedAtMs, bytes, archivedAs } = entry;
      yield { key, modifiedAtMs, bytes: bytes.length, ...(archivedAs && { archivedAs }) };
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    if (this.#entries.delete(key)) this.#sorted = undefined;
  }

  #readable(key: string): Entry | undefined {
    checkKey(key);
    const entry = this.#entries.get(key);
    if (entry?.archivedAs === undefined) return entry;
    throw new SyncError("STORE_FAILED", `Could not read ${key}: it is archived.`);
  }

  #set(key: string, bytes: Uint8Array): string {
    // Like an ETag, the version is the content's: equal content has an equal version.
    const version = createHash("sha256").update(bytes).digest("hex");
    if (!this.#entries.has(key)) this.#sorted = undefined;
    this.#entries.set(key, { bytes, version, modifiedAtMs: this.#clock.now() });
    return version;
  }
}

/** The place of the first key that is not before this one. */
function firstFrom(sorted: readonly string[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  // A producer may use its buffer again for the next chunk, so each one is copied.
  const copies: Uint8Array[] = [];
  for await (const chunk of body) copies.push(chunk.slice());
  return Buffer.concat(copies);
}

async function* chunks(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.slice(at, at + CHUNK_BYTES);
}
