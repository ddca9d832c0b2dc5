// The objects of a warehouse, as every process sees them: strongly consistent, as a directory and S3 are.

import { createHash } from "node:crypto";
import { hashOf } from "../chance.ts";

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
  /** By key what the last process left, where it was damaged since; undefined: no object. */
  readonly #intact = new Map<string, StoredBytes | undefined>();
  /** Every key that ever was damaged, or is no file of the program. */
  readonly everDamaged = new Set<string>();

  constructor(now: () => number, observe: ObjectObserver) {
    this.#now = now;
    this.#observe = observe;
  }

  get(key: string): StoredBytes | undefined {
    return this.#objects.get(key);
  }

  /** As the last process left it, whatever has happened to it since. */
  asWritten(key: string): StoredBytes | undefined {
    return this.#intact.has(key) ? this.#intact.get(key) : this.get(key);
  }

  keysAsWritten(prefix: string): readonly string[] {
    if (this.#intact.size === 0) return this.keys(prefix);
    const lost = [...this.#intact.keys()].filter((key) => key.startsWith(prefix) && !this.#objects.has(key));
    const keys = [...this.keys(prefix), ...lost].filter((key) => this.asWritten(key) !== undefined);
    return lost.length === 0 ? keys : keys.sort();
  }

  /** The keys that are not now as a process left them. */
  get damaged(): readonly string[] {
    return [...this.#intact.keys()];
  }

  /** A disk, or a person, changes it; without bytes it is gone. No process did it, and no observer learns of it. */
  damage(key: string, bytes: Uint8Array | undefined): void {
    const before = this.#objects.get(key);
    if (!this.#intact.has(key)) this.#intact.set(key, before);
    this.everDamaged.add(key);
    if (bytes === undefined) this.#objects.delete(key);
    else
      this.#objects.set(key, { bytes, version: versionOf(bytes), modifiedAtMs: this.#now(), metadata: {} });
    this.#sorted = undefined;
  }

  /** From a backup. */
  restore(key: string): void {
    const intact = this.#intact.get(key);
    if (intact === undefined) return;
    this.#intact.delete(key);
    this.#objects.set(key, intact);
    this.#sorted = undefined;
  }

  keys(prefix: string, after = ""): readonly string[] {
    this.#sorted ??= [...this.#objects.keys()].sort();
    return this.#sorted.filter((key) => key.startsWith(prefix) && key > after);
  }

  put(key: string, bytes: Uint8Array, by: string, metadata: StoredBytes["metadata"] = {}): string {
    const before = this.#objects.get(key);
    const version = versionOf(bytes);
    this.#intact.delete(key);
    const after = { bytes: Uint8Array.from(bytes), version, modifiedAtMs: this.#now(), metadata };
    this.#objects.set(key, after);
    if (before === undefined) this.#sorted = undefined;
    this.#observe({ key, before, after, by });
    return version;
  }

  delete(key: string, by: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    this.#intact.delete(key);
    this.#sorted = undefined;
    this.#observe({ key, before, after: undefined, by });
  }
}

/** Neither sorted nor as they are named, and always the same. */
export function inAnyOrder(keys: readonly string[]): readonly string[] {
  return keys.toSorted((a, b) => hashOf(a) - hashOf(b));
}

/** As S3 does it for an object that was not uploaded in parts. */
export const versionOf = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`;
