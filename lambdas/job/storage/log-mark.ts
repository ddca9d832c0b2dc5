// Where the publication log ended when a run was planned. Plan and manifest have it: so what came later is known by its
// number, whatever clocks have named it.

import * as z from "zod";
import { newestRemoval } from "./log-search.ts";
import { publishedUnits, type Removal } from "./publication.ts";
import { findEntry, type LogEnd } from "./publication-log.ts";
import type { AccountStore } from "./store.ts";

/** An entry of the log. A restored backup gives numbers a second time, so a number alone names none. */
export const logMarkSchema = z.object({
  publication: publishedUnits.shape.publication,
  write_id: z.string().min(1),
});

/** Where the log ended when a plan was made; null: it had no entry, undefined: that is not known. */
export type LogMark = Readonly<z.infer<typeof logMarkSchema>> | null | undefined;

export function markOf({ head, removal }: Pick<LogEnd, "head" | "removal">): LogMark {
  const entry = head ?? removal;
  return entry === undefined ? null : { publication: entry.publication, write_id: entry.write_id };
}

/**
 * The number of the entry that a plan has recorded as the end of the log; "" where there was none, undefined where the log
 * does not have it: then names decide.
 */
export async function placeOf(store: AccountStore, mark: LogMark): Promise<string | undefined> {
  if (!mark) return mark === null ? "" : undefined;
  const entry = await findEntry(store, mark.publication);
  return entry?.write_id === mark.write_id ? mark.publication : undefined;
}

/**
 * The removal that has cut off what was planned at this end of the log; undefined where it counts.
 * @param id of a run or a snapshot: its name decides where the log does not have that end
 */
export async function removalOf(
  store: AccountStore,
  id: string,
  mark: LogMark,
): Promise<Removal | undefined> {
  const place = await placeOf(store, mark);
  const removal = await newestRemoval(store, place ?? "");
  if (removal === undefined || place !== undefined) return removal;
  // What lies below a removal may be deleted.
  if (mark && mark.publication < removal.publication) return removal;
  return id <= removal.run_id ? removal : undefined;
}
