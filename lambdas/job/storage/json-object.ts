// Small JSON objects in the store: read through a schema, written once.

import type { z } from "zod";
import { damaged, damageIn, RESTORE } from "../errors/sync-error.ts";
import type { Store } from "./store.ts";

/** The object at `key`, or undefined where there is none. Throws `STORE_CORRUPT` when it is not what the schema says. */
export async function readJson<Schema extends z.ZodType>(
  store: Store,
  key: string,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  const stored = await store.read(key);
  return stored === undefined ? undefined : parseJson(stored.bytes, key, schema);
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

/** Creates the object; returns false where the key was taken. */
export async function writeJsonOnce(store: Store, key: string, value: unknown): Promise<boolean> {
  return (await store.create(key, Buffer.from(`${JSON.stringify(value)}\n`))) !== undefined;
}

/**
 * Creates the object unless a valid one exists. A damaged one is deleted first and never overwritten: files that other
 * processes rely on are only ever created.
 */
export async function ensureJson(
  store: Store,
  key: string,
  schema: z.ZodType,
  value: unknown,
): Promise<void> {
  if (await writeJsonOnce(store, key, value)) return;
  if ((await damageIn(readJson(store, key, schema))) === undefined) return;
  await store.delete(key);
  await writeJsonOnce(store, key, value);
}

/**
 * For schemas whose values come a few times in a run: otherwise Zod generates code for a schema when it is first used, which
 * takes several times as long as to parse such a value.
 */
export const SELDOM_PARSED = { jitless: true } as const;
