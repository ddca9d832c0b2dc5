// Where readers find the data. It follows the publication log and never leads it.

export interface Catalog {
  /**
   * Brings the tables up to the account's publication log. Idempotent: every start calls it before it logs
   * in, which completes a run that died between its commit and this call.
   * Throws `SyncError` `CATALOG_FAILED`; performs no retries.
   */
  refresh(account: string): Promise<void>;

  /**
   * The columns of the tables of events as they are now, in order, without those that come from the path.
   * Reads only; performs no retries.
   */
  columns(): Promise<readonly string[]>;
}
