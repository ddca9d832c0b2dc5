// Which units each table shows, by the publication logs; and how `views.sql` keeps that for accounts whose log is damaged.

import * as z from "zod";
import type { SyncError } from "../../errors/sync-error.ts";
import {
  type DamagedUnit,
  keptSnapshots,
  type PublishedUnits,
  type Unit,
} from "../../snapshot/files/units.ts";

/** Tables of units; the others show lines as they come. */
export const UNIT_TABLES = ["events", "event_snapshots", "event_changes"] as const;

export type UnitTable = (typeof UNIT_TABLES)[number];

export interface AccountLog {
  readonly account: string;
  /** What is published and counts, oldest first. */
  readonly log: readonly PublishedUnits[];
  /** The number of the removal below that, if there is one. */
  readonly removal: string | undefined;
  /** The snapshots that are retired, their files still there or not. */
  readonly retired: ReadonlySet<string>;
  /** The publications whose changes are lost. */
  readonly lost: ReadonlySet<string>;
  /** Units that lack a file. */
  readonly incomplete: readonly DamagedUnit[];
  /** Of snapshots that lack nothing the sizes of their parts. */
  readonly whole: ReadonlyMap<string, readonly number[]>;
  /** Why the log cannot be read. What is said here is then what `views.sql` said before. */
  readonly damage: SyncError | undefined;
}

/** What the table shows of the account where nothing is damaged, each unit once. */
export function unitsOf(table: UnitTable, { account, log, retired, lost }: AccountLog): readonly Unit[] {
  if (table === "event_changes") {
    return log
      .filter(({ added, changed, removed }) => added + changed + removed > 0)
      .filter(({ publication }) => !lost.has(publication))
      .map((publication) => ({ account, holds: "changes", publication }));
  }
  const snapshots = table === "events" ? log.slice(-1) : keptSnapshots(log, retired);
  // A snapshot without events has no parts.
  return snapshots
    .filter(({ events }) => events > 0)
    .map((publication) => ({ account, holds: "snapshot", publication }));
}

// Identifiers become parts of paths in SQL, so nothing else passes.
const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
const count = z.int().nonnegative();

const LIST = z.object({
  account: identifier,
  publications: z.array(
    z.object({
      publication: z.string().regex(/^\d{10}$/),
      snapshot_id: identifier,
      events: count,
      added: count,
      changed: count,
      removed: count,
    }),
  ),
  removal: z.string().optional(),
  /** Of snapshots that lacked nothing the sizes of their parts. */
  whole: z.record(identifier, z.array(count)),
});

const LINE = "-- has ";

/**
 * A comment for `views.sql`, one line: everything that is needed to list the account's files again. With the removal no
 * two texts are the same before and after it, so that a process that was stopped before it does not replace the later one.
 */
export function listLine({ account, log, removal, whole }: AccountLog): string {
  const publications = log.map(({ publication, snapshot_id, events, added, changed, removed }) => ({
    publication,
    snapshot_id,
    events,
    added,
    changed,
    removed,
  }));
  return `${LINE}${JSON.stringify({ account, removal, publications, whole: Object.fromEntries(whole) })}`;
}

/** From the comments of a `views.sql`, by account. Lines that are something else are left aside. */
export function listedIn(
  sql: string,
): ReadonlyMap<string, Pick<AccountLog, "account" | "log" | "removal" | "whole">> {
  const lists = sql.split("\n").flatMap((line) => parseList(line) ?? []);
  return new Map(
    lists.map(({ account, removal, publications, whole }) => [
      account,
      { account, log: publications, removal, whole: new Map(Object.entries(whole)) },
    ]),
  );
}

function parseList(line: string): z.infer<typeof LIST> | undefined {
  if (!line.startsWith(LINE)) return undefined;
  try {
    return LIST.safeParse(JSON.parse(line.slice(LINE.length))).data;
  } catch {
    return undefined;
  }
}
