// Why a process stops that no longer has the lease.

import { workOf } from "./lease-name.ts";

/** Another process has taken the lease over and works on the account now. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly takenBy: string | null;

  constructor(takenBy: string | null) {
    super(`the lease was taken over${takenBy === null ? "" : ` by ${workOf(takenBy)}`}`);
    this.takenBy = takenBy;
  }
}
