// `accounts/<account>/login-refused.json`: which version of the credentials the service refused last, and when. Until
// they change, a schedule sends no login: every further one could lock the account.

import * as z from "zod";
import { ERROR_CODES, SyncError } from "../../errors/sync-error.ts";
import { readJson } from "../../storage/json-object.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";

/** After so long a schedule tries again: an account may be enabled without a new password. */
const IN_FORCE_MS = 24 * 60 * 60_000;

const schema = z.object({
  code: z.enum(ERROR_CODES),
  refused_at: z.iso.datetime(),
  /** The id of the secret's version; a new value has another id. */
  credentials_version: z.string(),
  /** Of the request that sent the login, where there was one. */
  request_id: z.string().optional(),
});
export type LoginRefusal = Readonly<z.infer<typeof schema>>;

/** The last refusal; undefined where there is none, or where the file is damaged, which costs one login at most. */
export async function readRefusal(store: Store, account: string): Promise<LoginRefusal | undefined> {
  try {
    return await readJson(store, layout.loginRefused(account), schema);
  } catch (error) {
    if (error instanceof SyncError && error.code === "STORE_CORRUPT") return undefined;
    throw error;
  }
}

/** Replaces the refusal before it, unless another process writes at the same time. */
export async function writeRefusal(store: Store, account: string, refusal: LoginRefusal): Promise<void> {
  const key = layout.loginRefused(account);
  const bytes = Buffer.from(`${JSON.stringify(refusal)}\n`);
  const stored = await store.read(key);
  if (stored === undefined) await store.create(key, bytes);
  else await store.replace(key, bytes, stored.version);
}

/** Reads first: in a bucket with versions every deletion leaves a delete marker, also that of a missing key. */
export async function deleteRefusal(store: Store, account: string): Promise<void> {
  const key = layout.loginRefused(account);
  if ((await store.read(key)) !== undefined) await store.delete(key);
}

/** The instant until which credentials of this version are not sent by a schedule; undefined if they may be. */
export function withheldUntil(
  { refused_at, credentials_version }: LoginRefusal,
  version: string | undefined,
  nowMs: number,
): number | undefined {
  const refusedAtMs = Date.parse(refused_at);
  // An instant in the future was written by a wrong clock, and must not withhold the login until then.
  const isRecent = Math.abs(nowMs - refusedAtMs) < IN_FORCE_MS;
  return isRecent && credentials_version === version ? refusedAtMs + IN_FORCE_MS : undefined;
}
