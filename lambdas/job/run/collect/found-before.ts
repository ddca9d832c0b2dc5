// An event that could not be read, for a reason that may pass: the run remembers when that was found first.

import * as z from "zod";
import { type AccountStore, readJson, writeJsonOnce } from "../../storage/store.ts";

/** What has not passed after so long is taken for the event's own. */
export const LATER_MINUTES = 10;

const foundSchema = z.object({ found_at: z.iso.datetime() });

/**
 * Whether a start before this one has found the same, so long ago. Where none has, that it is found now is written down.
 * @param startedAtMs when this start began
 */
export async function wasFoundBefore(
  store: AccountStore,
  event: { readonly runId: string; readonly uuid: string },
  nowMs: number,
  startedAtMs: number,
): Promise<boolean> {
  const key = store.keys.unread(event.runId, event.uuid);
  const found = await readJson(store, key, foundSchema);
  if (found === undefined) {
    await writeJsonOnce(store, key, { found_at: new Date(nowMs).toISOString() });
    return false;
  }
  const foundAtMs = Date.parse(found.found_at);
  return foundAtMs < startedAtMs && nowMs - foundAtMs >= LATER_MINUTES * 60_000;
}
