// The objects of a warehouse, as every process sees them: strongly consistent, as a directory and S3 are.

import { createHash } from "node:crypto";

export interface StoredBytes {
  readonly bytes: Uint8Array;
  readonly version: string;
  readonly modifiedAtMs: number;
  /** Of S3: which write made it. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ObjectChange {
  readonly key: string;
  readonly before: StoredBytes | undefined;
  readonly after: StoredBytes | undefined;
  readonly by: string;
}

export type ObjectObserver = (change: ObjectChange) => void;

export class Objects {
  readonly #objects = new Map<string, StoredBytes>();
  readonly #observe: ObjectObserver;
  readonly #now: () => number;
  #sorted: readonly string[] | undefined;

  constructor(now: () => number, observe: ObjectObserver) {
    this.#now = now;
    this.#observe = observe;
  }

  get(key: string): StoredBytes | undefined {
    return this.#objects.get(key);
  }

  keys(prefix: string, after = ""): readonly string[] {
    this.#sorted ??= [...this.#objects.keys()].sort();
    return this.#sorted.filter((key) => key.startsWith(prefix) && key > after);
  }

  put(key: string, bytes: Uint8Array, by: string, metadata: StoredBytes["metadata"] = {}): string {
    const before = this.#objects.get(key);
    const version = `"${createHash("md5").update(bytes).digest("hex")}"`;
    const after = { bytes: bytes.slice(), version, modifiedAtMs: this.#now(), metadata };
    this.#objects.set(key, after);
    if (before === undefined) this.#sorted = undefined;
    this.#observe({ key, before, after, by });
    return version;
  }

  delete(key: string, by: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    this.#sorted = undefined;
    this.#observe({ key, before, after: undefined, by });
  }
}
