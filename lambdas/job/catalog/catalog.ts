// Where readers find the data. It follows the publication log and never leads it.

export interface Catalog {
  /**
   * Brings the tables up to the account's publication log; an account that was removed leaves them. Idempotent: every
   * start calls it before it logs in, which completes a run that died between its commit and this call. Damage of another
   * account does not end it.
   * Throws `SyncError` `CATALOG_FAILED`, and `STORE_CORRUPT` where the account's log is damaged; performs no retries.
   */
  refresh(account: string): Promise<void>;

  /**
   * Where a deployment makes the tables: their columns, in order, without those that come from the path. Absent where
   * the tables have what `columns.json` says. Reads only; performs no retries.
   */
  columns?(): Promise<readonly string[]>;
}
