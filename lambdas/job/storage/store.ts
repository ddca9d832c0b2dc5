// The object store a warehouse lives in: a directory on a laptop, S3 in AWS, a map in tests.

import type { z } from "zod";
import { damaged, RESTORE } from "../errors/sync-error.ts";
import { layout } from "./layout.ts";

/** What a key holds, read whole. `version` changes whenever the content is replaced. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  readonly version: string;
}

export interface StoredKey {
  /** With a slash at its end it is an account's folder, which cannot be listed to its end. */
  readonly key: string;
  /** Milliseconds since the Unix epoch, by the store's own clock. */
  readonly modifiedAtMs: number;
  readonly bytes: number;
  /** The storage class of an object that cannot be read before it is restored. */
  readonly archivedAs?: string;
}

export type Body = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Keys are relative, `/`-separated. An object appears whole or not at all, and is durable when the call
 * returns. Every method throws `SyncError` `STORE_FAILED` for a failure that a retry may fix; performs no retries.
 */
export interface Store {
  /** The object, or undefined where there is none. */
  read(key: string): Promise<StoredObject | undefined>;
  /** The object's bytes in chunks, or undefined where there is none. */
  open(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Creates the object if the key is free and returns its version; undefined where it was taken. Consumes the body to
   * its end in both cases, so the caller may rely on what the body did. If the body throws, nothing appears and the
   * error passes through unchanged; if the store fails, the body is closed.
   */
  create(key: string, body: Body): Promise<string | undefined>;
  /**
   * Creates the object at `to` with the bytes of the one at `from`, which exists, if the key is free; false where it was
   * taken.
   */
  copy(from: string, to: string): Promise<boolean>;
  /** Replaces the object if it still has `version` and returns the new one; undefined where it has changed or is gone. */
  replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined>;
  /** The keys that start with `prefix` and sort after `after` (both compared by code unit), in order. */
  list(prefix: string, after?: string): AsyncIterable<StoredKey>;
  /**
   * Deletes these objects, in any order; a key without one is no error. Where it fails or is stopped, any of them may be
   * deleted.
   */
  delete(keys: readonly string[]): Promise<void>;
}

/** A store as one account's job sees it. */
export interface AccountStore extends Store {
  readonly account: string;
  readonly keys: ReturnType<typeof layout>;
}

/** Made once, where the account is known. */
export function accountStore(store: Store, account: string): AccountStore {
  return {
    account,
    keys: layout(account),
    read: (key) => store.read(key),
    open: (key) => store.open(key),
    create: (key, body) => store.create(key, body),
    copy: (from, to) => store.copy(from, to),
    replace: (key, bytes, version) => store.replace(key, bytes, version),
    list: (prefix, after) => store.list(prefix, after),
    delete: (keys) => store.delete(keys),
  };
}

/** Whether a store takes it: relative, `/`-separated, with no segment that a file system would read in a special way. */
export function isKey(text: string): boolean {
  return text.split("/").every((segment) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(segment));
}

/** Throws for a key that is not one of `layout`'s making: a mistake in the program, not in the data. */
export function checkKey(key: string): void {
  if (!isKey(key)) {
    throw new TypeError(
      `A store key is segments of letters, digits, ".", "_" and "-" joined by "/", none of which is empty or starts with "." or "-"; got ${JSON.stringify(key)}`,
    );
  }
}

/** The object at `key`, or undefined where there is none. Throws `STORE_CORRUPT` when it is not what the schema says. */
export async function readJson<Schema extends z.ZodType>(
  store: Store,
  key: string,
  schema: Schema,
  remedy = RESTORE,
): Promise<z.infer<Schema> | undefined> {
  const stored = await store.read(key);
  return stored === undefined ? undefined : parseJson(stored.bytes, key, schema, remedy);
}

/** Throws `STORE_CORRUPT` naming `key`; the content is never repeated. */
export function parseJson<Schema extends z.ZodType>(
  bytes: Uint8Array,
  key: string,
  schema: Schema,
  remedy = RESTORE,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw damaged(key, "it is not JSON", remedy);
  }
  const parsed = schema.safeParse(value, SELDOM_PARSED);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") || "the object";
  throw damaged(key, `${where}: ${issue?.message ?? "unexpected"}`, remedy);
}

/** A file of JSON, as `readJson` reads it. */
export const jsonBytes = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);

/** Creates the object; returns false where the key was taken. */
export async function writeJsonOnce(store: Store, key: string, value: unknown): Promise<boolean> {
  return (await store.create(key, jsonBytes(value))) !== undefined;
}

/**
 * Compare-and-swap: returns the new version, or undefined where the object is no more as it was found.
 * @param version that it had; undefined where there was none
 */
export function swap(
  store: Store,
  key: string,
  bytes: Uint8Array,
  version: string | undefined,
): Promise<string | undefined> {
  return version === undefined ? store.create(key, bytes) : store.replace(key, bytes, version);
}

/**
 * For schemas whose values come a few times in a run: otherwise Zod generates code for a schema when it is first used, which
 * takes several times as long as to parse such a value.
 */
export const SELDOM_PARSED = { jitless: true } as const;
