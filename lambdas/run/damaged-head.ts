// What readers see is damaged, or what it is to be compared with: the error that also says how to publish over it.

import { SyncError } from "../errors/sync-error.ts";

/** For people and their shell. */
function wayOut(account: string): string {
  return `Or publish over it: npm run sync -- run --over-damaged --account ${account} (in AWS: {"account":"${account}","overDamaged":true}), which makes a new snapshot and compares it with the newest one that is whole.`;
}

/** The error as it came, unless it says that a file is damaged: then with the way out. */
export function withWayOut(error: unknown, account: string): unknown {
  if (!(error instanceof SyncError) || error.code !== "STORE_CORRUPT") return error;
  return new SyncError(error.code, `${error.message} ${wayOut(account)}`, {
    fields: error.fields,
    cause: error.cause,
  });
}
