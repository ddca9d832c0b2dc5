// An entry of the publication log: what a publication or a removal says, and what that means for the changes before it.

import * as z from "zod";
import { formatRunId } from "./layout.ts";
import { jsonBytes, SELDOM_PARSED, type StoredKey } from "./store.ts";

// Identifiers become parts of keys, so nothing else passes: a damaged file must not point elsewhere.
const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
const count = z.int().nonnegative();

/** How many of the listed events had no row, by reason. */
const MISSING = z.object({ listed: count, gone: count, forbidden: count, rejected: count });
export type Missing = Readonly<z.infer<typeof MISSING>>;

const FILES = z.object({ snapshot: count, changes: count });

const PUBLICATION = z.object({
  publication: z.string().regex(/^\d{10}$/),
  action: z.enum(["run", "accept", "rollback"]),
  snapshot_id: identifier,
  base_snapshot_id: identifier.nullable(),
  published_at: z.iso.datetime(),
  events: count,
  added: count,
  changed: count,
  removed: count,
  run_id: identifier,
  pinned: z.boolean(),
  write_id: z.string().min(1),
  /** How many files its snapshot and its changes have, beside those with a leading `_`. Absent in entries of earlier versions. */
  files: FILES.optional(),
  /** What was missing when a person last decided what readers see. Absent where nothing was, and before a first decision. */
  accepted: MISSING.optional(),
});

const { publication, snapshot_id, base_snapshot_id, events, added, changed, removed, files } =
  PUBLICATION.shape;

/** What a publication says of the snapshot and the changes that it published. */
export const publishedUnits = z.object({
  publication,
  snapshot_id,
  base_snapshot_id: base_snapshot_id.optional(), // absent in `views.sql` of earlier versions
  events,
  added,
  changed,
  removed,
  files,
});
export type PublishedUnits = Readonly<z.infer<typeof publishedUnits>>;

/**
 * Where a publication has no changes, no file in the folder of its changes counts: a decision about the same snapshot
 * that lost the race for the number may have left some.
 */
export function hasChanges({ added, changed, removed }: PublishedUnits): boolean {
  return added + changed + removed > 0;
}

/** A removal has the columns of a publication, so that tables which show the files as they come can read it. */
const REMOVAL = PUBLICATION.extend({ action: z.literal("remove"), snapshot_id: z.null() });
const ENTRY = z.discriminatedUnion("action", [PUBLICATION, REMOVAL]);

/** One line of the table `publications`; `publication` is ten digits, from `0000000001`. */
export type Publication = Readonly<z.infer<typeof PUBLICATION>>;

/** The account was removed. What was planned before it does not count after it. */
export type Removal = Readonly<z.infer<typeof REMOVAL>>;
export type Entry = Publication | Removal;

/** How it is written. Parsing puts the keys in the table's order and refuses what could not be read back. */
export const entryBytes = (entry: Entry): Uint8Array => jsonBytes(ENTRY.parse(entry, SELDOM_PARSED));

/** As long as any: all that it says beside its random id has a fixed length. */
const LONGEST_REMOVAL: Removal = {
  publication: "0".repeat(10),
  action: "remove",
  snapshot_id: null,
  base_snapshot_id: null,
  published_at: new Date(0).toISOString(),
  events: 0,
  added: 0,
  changed: 0,
  removed: 0,
  run_id: formatRunId(0),
  pinned: false,
  write_id: "0".repeat(36),
};
const MOST_REMOVAL_BYTES = entryBytes(LONGEST_REMOVAL).byteLength;

/** False for what is longer than a removal, as publications are, which name snapshots: so a list shows what need not be read. */
export const mayBeRemoval = ({ bytes }: Pick<StoredKey, "bytes">): boolean => bytes <= MOST_REMOVAL_BYTES;

/**
 * Whether the changes of the publication are not those against the one before it, so that the history begins again: they are
 * found against nothing, or, in logs of an earlier version, against an older snapshot.
 */
export function isRestart(
  { base_snapshot_id: base }: Pick<PublishedUnits, "base_snapshot_id">,
  before: Pick<Publication, "snapshot_id"> | undefined,
): boolean {
  return before !== undefined && base !== undefined && before.snapshot_id !== base;
}

/** Whether the last restart of the log is after this publication: then its changes count no more. */
export function isBeforeRestart(
  log: readonly PublishedUnits[],
  { publication }: Pick<PublishedUnits, "publication">,
): boolean {
  const last = log.findLast((each, index) => isRestart(each, log[index - 1]));
  return last !== undefined && publication < last.publication;
}

/** Undefined for anything but one whole line; the parser's own error would quote the file, so it is dropped. */
export function parseEntry(bytes: Uint8Array): Entry | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.indexOf("\n") !== text.length - 1) return undefined;
    return ENTRY.safeParse(JSON.parse(text), SELDOM_PARSED).data;
  } catch {
    return undefined;
  }
}
