// The status of several accounts: damage of one does not hide the others.

import { type DamagedAccount, orDamage } from "../storage/damaged-account.ts";
import type { Store } from "../storage/store.ts";
import { type Status, status } from "./status.ts";

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
    found.push(
      ...(await Promise.all(some.map((account) => orDamage(account, () => status(store, account, nowMs))))),
    );
  }
  return found;
}
