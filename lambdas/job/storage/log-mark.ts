// Where the publication log ended when a run was planned. Plan and manifest have it: so what came later is known by its
// number, whatever clocks have named it.

import * as z from "zod";
import { type Entry, publishedUnits, type Removal } from "./publication.ts";
import { findEntry, type LogEnd, type LogSince, readLogSince } from "./publication-log.ts";
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

/** What the log has gained since then; all that counts where the log does not have that end. */
export async function readLogBehind(store: AccountStore, mark: LogMark): Promise<LogSince> {
  return readLogSince(store, (await placeOf(store, mark)) ?? "");
}

/**
 * The removal that has cut off what was planned at this end of the log; undefined where it counts.
 * @param log what it has gained since then, or more
 * @param id of a run or a snapshot: its name decides where the log does not have that end
 */
export function removalOf(
  { publications, removal }: Pick<LogSince, "publications" | "removal">,
  id: string,
  mark: LogMark,
): Removal | undefined {
  if (removal === undefined) return undefined;
  const isIn = ({ publication, write_id }: Entry): boolean =>
    publication === mark?.publication && write_id === mark.write_id;
  const place = mark?.publication ?? "";
  // What lies below a removal may be deleted.
  if (mark !== undefined && place < removal.publication) return removal;
  if (mark && [removal, ...publications].some(isIn)) return undefined;
  return id <= removal.run_id ? removal : undefined;
}
