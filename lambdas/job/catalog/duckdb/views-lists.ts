// The comments of `views.sql`: what each account has, for the next replacement, which carries it on.

import * as z from "zod";
import { SyncError } from "../../errors/sync-error.ts";
import { keptSnapshots } from "../../snapshot/files/units.ts";
import { type PublishedUnits, publishedUnits } from "../../storage/publication.ts";
import { SELDOM_PARSED, type StoredObject } from "../../storage/store.ts";
import type { AccountLog } from "./views-sql.ts";

export interface ListedLog extends AccountLog {
  /** The sizes of the parts of each snapshot that is shown and lacks nothing. */
  readonly whole: Readonly<Record<string, readonly number[]>>;
  /** Of the last publication; undefined where there is none. A restored backup gives numbers a second time. */
  readonly writeId: string | undefined;
  /** As it stands in `views.sql`, where the account was not looked at. */
  readonly line?: string;
}

const LACKING = z.object({
  holds: z.enum(["snapshot", "changes"]),
  publication: publishedUnits,
  key: z.string(),
  message: z.string(),
});

const LIST = z.object({
  account: z.string(),
  publications: z.array(publishedUnits),
  /** Of the last one. Absent in lists of earlier versions: from these nothing is carried on. */
  write_id: z.string().optional(),
  removal: z.string().optional(),
  /** The sizes of the parts of each snapshot that lacked nothing. */
  whole: z.record(z.string(), z.array(z.int().nonnegative()).readonly()),
  /** The units that lack a file. Absent where the account could not be read, and in lists of earlier versions as well. */
  lacking: z.array(LACKING).optional(),
});
export interface List extends Readonly<z.infer<typeof LIST>> {
  /** The whole line. */
  readonly line: string;
}

export const LISTS = "-- What each account has, for the next replacement. It counts where a log is damaged.";
const LINE = "-- has ";

/**
 * A comment for `views.sql`, one line: everything that is needed to list the account's files again. With the removal no
 * two texts are the same before and after it, so that a process that was stopped before it does not replace the later one.
 */
export function listLine({ account, log, removal, writeId, whole, incomplete, damage }: ListedLog): string {
  const lacking = incomplete.map(({ holds, publication, damage }) => ({
    holds,
    publication: unitsOnly(publication),
    key: String(damage.fields["key"]),
    message: damage.message,
  }));
  const publications = log.map(unitsOnly);
  const list: Omit<List, "line"> = {
    account,
    removal,
    publications,
    write_id: writeId,
    whole,
    lacking: damage ? undefined : lacking,
  };
  return `${LINE}${JSON.stringify(list)}`;
}

/** What the line says, as it was read. */
export function listedLog({
  account,
  publications: log,
  removal,
  write_id: writeId,
  whole,
  lacking = [],
}: List): Omit<ListedLog, "damage"> {
  const incomplete = lacking.map(({ holds, publication, key, message }) => ({
    account,
    holds,
    publication,
    damage: new SyncError("STORE_CORRUPT", message, { fields: { key } }),
  }));
  const lost = new Set(
    incomplete.flatMap(({ holds, publication }) => (holds === "snapshot" ? [publication.snapshot_id] : [])),
  );
  const isKept = ({ snapshot_id }: PublishedUnits): boolean => snapshot_id in whole || lost.has(snapshot_id);
  const kept = keptSnapshots(log.filter(isKept), []);
  return { account, log, removal, writeId, kept, whole, incomplete };
}

/** From the comments of a `views.sql`, by account. Lines that are something else are left aside. */
export function listsIn(views: StoredObject | undefined): ReadonlyMap<string, List> {
  const lines = new TextDecoder().decode(views?.bytes).split("\n");
  const lists = lines.flatMap((line) => (line.startsWith(LINE) ? (parseList(line) ?? []) : []));
  return new Map(lists.map((list) => [list.account, list]));
}

/** Of a longer line so many values are parsed that code for them is worth it. */
const MOST_SELDOM_PARSED = 50_000;

function parseList(line: string): List | undefined {
  try {
    const how = line.length > MOST_SELDOM_PARSED ? undefined : SELDOM_PARSED;
    const { data } = LIST.safeParse(JSON.parse(line.slice(LINE.length)), how);
    return data && { ...data, line };
  } catch {
    return undefined;
  }
}

/** Of a whole line of the log only what it says of units. */
const unitsOnly = (publication: PublishedUnits): PublishedUnits => publishedUnits.parse(publication);
