// The status of several accounts: damage of one does not hide the others.

import { isDamage } from "../errors/is-damage.ts";
import type { SyncError } from "../errors/sync-error.ts";
import type { Store } from "../storage/store.ts";
import { type Status, status } from "./status.ts";

/** An account whose status cannot be read, because a file of it is damaged. */
interface DamagedAccount {
  readonly account: string;
  readonly damage: SyncError;
}

export type AccountStatus = Status | DamagedAccount;

/** A status is some ten small reads, one after the other. */
const AT_ONCE = 8;

/** Reads only. In the order of the accounts. Throws `STORE_FAILED`. */
export async function statusOfAll(
  store: Store,
  accounts: readonly string[],
  nowMs: number,
): Promise<readonly AccountStatus[]> {
  const found: AccountStatus[] = [];
  for (let at = 0; at < accounts.length; at += AT_ONCE) {
    const some = accounts.slice(at, at + AT_ONCE);
    found.push(...(await Promise.all(some.map((account) => statusOrDamage(store, account, nowMs)))));
  }
  return found;
}

async function statusOrDamage(store: Store, account: string, nowMs: number): Promise<AccountStatus> {
  try {
    return await status(store, account, nowMs);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { account, damage: error };
  }
}
