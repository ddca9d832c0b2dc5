// An account of which a file is damaged: it does not hide the others.

import { isDamage } from "../errors/is-damage.ts";
import type { SyncError } from "../errors/sync-error.ts";

/** An account that cannot be read, because a file of it is damaged. */
export interface DamagedAccount {
  readonly account: string;
  readonly damage: SyncError;
}

/** What `read` finds, or the damage that it meets. Throws every other error of `read`. */
export async function orDamage<T>(account: string, read: () => Promise<T>): Promise<T | DamagedAccount> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { account, damage: error };
  }
}
