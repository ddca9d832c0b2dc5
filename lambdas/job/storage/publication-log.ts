// Which snapshot readers see: the account's publications, numbered without gaps. Creating the next one is the commit.

import * as z from "zod";
import { isDamage } from "../errors/is-damage.ts";
import { SyncError } from "../errors/sync-error.ts";
import { FOLDERS, isOfLayout, layout, publicationId } from "./layout.ts";
import { runInstant } from "./run-id.ts";
import { SELDOM_PARSED } from "./seldom-parsed.ts";
import type { Store } from "./store.ts";

// Identifiers become parts of keys, so nothing else passes: a damaged file must not point elsewhere.
const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
const count = z.int().nonnegative();
const DAY_MS = 24 * 60 * 60 * 1000;

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
});

/** One line of the table `publications`; `publication` is ten digits, from `0000000001`. */
export type Publication = Readonly<z.infer<typeof PUBLICATION>>;

/**
 * The account's publications, oldest first: all, or those after one. Throws `STORE_CORRUPT` for a gap or a damaged
 * file.
 */
export async function readLog(store: Store, account: string, after = ""): Promise<readonly Publication[]> {
  const log: Publication[] = [];
  for (const publication of await publicationIds(store, account)) {
    if (publication > after) log.push(await readPublication(store, account, publication));
  }
  return log;
}

/** The newest publication. Reads its file only, and throws `STORE_CORRUPT` if the numbers have a gap. */
export async function readHead(store: Store, account: string): Promise<Publication | undefined> {
  const newest = (await publicationIds(store, account)).at(-1);
  return newest === undefined ? undefined : readPublication(store, account, newest);
}

/**
 * The publication that this run has made. Searches from the newest to the first, because no clock says where to stop:
 * do not search for a run that certainly has none.
 */
export async function findPublicationOf(
  store: Store,
  account: string,
  runId: string,
): Promise<Publication | undefined> {
  for await (const publication of newestFirst(store, account)) {
    if (isOfRun(publication, runId)) return publication;
  }
  return undefined;
}

/** The newest publication of this snapshot, by its run or by a person; searches as far back. */
export async function findPublicationOfSnapshot(
  store: Store,
  account: string,
  snapshotId: string,
): Promise<Publication | undefined> {
  for await (const publication of newestFirst(store, account)) {
    if (publication.snapshot_id === snapshotId) return publication;
  }
  return undefined;
}

/** True for the one publication that a run makes; an accept or a rollback may have begun at the same instant. */
export function isOfRun({ action, run_id }: Publication, runId: string): boolean {
  return action === "run" && run_id === runId;
}

/**
 * The publications that are probably of the run or of its snapshot, newest first, each read on demand. Where it ends
 * depends on clocks, so use it only where a wrong clock does no harm.
 */
export async function* publicationsSince(
  store: Store,
  account: string,
  runId: string,
): AsyncGenerator<Publication> {
  const startedAtMs = runInstant(runId) ?? 0;
  for await (const publication of newestFirst(store, account)) {
    yield publication;
    // No run is published before it starts, by clocks that differ by less than a day.
    if (Date.parse(publication.published_at) < startedAtMs - DAY_MS) return;
  }
}

/** All publications, each read on demand. Throws `STORE_CORRUPT` as `readLog` does. */
async function* newestFirst(store: Store, account: string): AsyncGenerator<Publication> {
  for (const id of (await publicationIds(store, account)).toReversed()) {
    yield await readPublication(store, account, id);
  }
}

/** The publications that can be read, each on demand, whatever is damaged beside them: for what no snapshot depends on. */
export async function* newestReadable(store: Store, account: string): AsyncGenerator<Publication> {
  const prefix = layout.publications(account);
  const names = await Array.fromAsync(store.list(prefix), ({ key }) => key.slice(prefix.length));
  for (const name of names.toReversed()) {
    const [, id] = /^(\d{10})\.ndjson$/.exec(name) ?? [];
    if (id === undefined) continue;
    try {
      yield await readPublication(store, account, id);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

/**
 * The commit. "lost": another writer took the number first. A publication that exists with our own `write_id` was made
 * by an earlier try whose response was lost, so it counts as committed.
 */
export async function publish(
  store: Store,
  account: string,
  publication: Publication,
): Promise<"committed" | "lost"> {
  const key = layout.publication(account, publication.publication);
  // Parsing puts the keys in the table's order and refuses what could not be read back.
  const line = `${JSON.stringify(PUBLICATION.parse(publication, SELDOM_PARSED))}\n`;
  const created = await store.create(key, new TextEncoder().encode(line));
  if (created !== undefined) return "committed";

  const standing = await readPublication(store, account, publication.publication);
  return standing.write_id === publication.write_id ? "committed" : "lost";
}

/** The accounts that have a publication, sorted. */
export async function accounts(store: Store): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { key } of store.list(FOLDERS.publications)) {
    const [account = ""] = key.slice(FOLDERS.publications.length).split("/", 1);
    if (isOfLayout(key)) found.add(account);
  }
  return [...found].sort();
}

async function publicationIds(store: Store, account: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(layout.publications(account))) {
    if (!isOfLayout(key)) continue;
    const id = publicationId(ids.length + 1);
    const expected = layout.publication(account, id);
    if (key !== expected) throw corrupt(expected, `it is missing, while ${key} exists`);
    ids.push(id);
  }
  return ids;
}

/** The publication of this number, which exists. Throws `STORE_CORRUPT` where it does not, or is damaged. */
export async function readPublication(
  store: Store,
  account: string,
  publication: string,
): Promise<Publication> {
  const key = layout.publication(account, publication);
  const stored = await store.read(key);
  if (stored === undefined) throw corrupt(key, "it was listed but no longer exists");

  const parsed = parse(stored.bytes);
  if (parsed === undefined) throw corrupt(key, "it is not one complete line of a publication");
  if (parsed.publication !== publication) throw corrupt(key, `it says that it is ${parsed.publication}`);
  return parsed;
}

/** Undefined for anything but one whole line; the parser's own error would quote the file, so it is dropped. */
function parse(bytes: Uint8Array): Publication | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.indexOf("\n") !== text.length - 1) return undefined;
    return PUBLICATION.safeParse(JSON.parse(text), SELDOM_PARSED).data;
  } catch {
    return undefined;
  }
}

function corrupt(key: string, what: string): SyncError {
  return new SyncError(
    "STORE_CORRUPT",
    `The publication ${key} is damaged: ${what}. Restore this file from a backup or an earlier version of it. Until then nothing is published.`,
    { fields: { key } },
  );
}
