// What must hold in every world that can be reached, and of every step to it. Knows files and tables, not programs.

import {
  type ChainWorld,
  type Content,
  endOf,
  headOf,
  publicationsOf,
  removalOf,
  type World,
} from "./world.ts";

const SMALLEST_SHARE = 0.8;

/**
 * The law that this world, or the step that led to it, breaks; undefined if it breaks none.
 * @param wasPaused a process has worked on after its lease had expired. Two processes of one run may then disagree whether
 * it is held, if an accept comes between them; nothing else is excused.
 */
export function brokenLaw(before: World, after: World, wasPaused: boolean): string | undefined {
  return (
    changedHistory(before, after) ??
    wrongPublication(before, after, wasPaused) ??
    wrongTables(after) ??
    wrongOutcome(after, wasPaused) ??
    wrongRecords(before.chain, after.chain) ??
    wrongManifest(before.chain, after.chain)
  );
}

/** Records never change and are one chain. Their rows are there, unless something has happened to the warehouse. */
function wrongRecords(before: ChainWorld, after: ChainWorld): string | undefined {
  if (before === after) return undefined;
  for (const [place, record] of Object.entries(before.records)) {
    if (!isSame(after.records[Number(place)], record)) return `record ${place} has changed`;
  }
  let next = 0;
  for (const [place, { by, end }] of Object.entries(after.records)) {
    if (Number(place) !== next) return `record ${place} does not begin where the one before it ends`;
    if (by !== null && after.rows[`${place}/${by}`] === undefined && !after.isDamaged)
      return `the rows of record ${place} are gone`;
    next = end;
  }
  return undefined;
}

/** A manifest, when it appears, names each planned event once, in parts of which each has the rows of one record. */
function wrongManifest(before: ChainWorld, after: ChainWorld): string | undefined {
  const { manifest, parts, records, events } = after;
  if (before.manifest !== null && !isSame(manifest, before.manifest)) return "the manifest has changed";
  if (manifest === null || before.manifest !== null) return undefined;
  const named = Array.from({ length: manifest.parts }, (_, index) => parts[index]);
  const [other] = Object.keys(parts).filter((index) => Number(index) >= manifest.parts);
  if (other !== undefined) return `readers see part ${other}, which the manifest does not name`;
  const staged = Object.values(records).filter(({ by }) => by !== null);
  const results = [...manifest.leftOut];
  for (const [index, part] of named.entries()) {
    if (part === undefined) return `the manifest names part ${index}, which is not there`;
    if (!part.isWhole && !part.readBy.includes(manifest.by))
      return `the manifest names part ${index}, which was damaged before it was read`;
    const record = staged[index];
    if (staged.length > 0 && !(record?.by === part.by && isSame(record.found, part.found)))
      return `part ${index} does not hold the rows of a record`;
    results.push(...part.found);
  }
  for (let event = 0; event < events; event += 1) {
    const times = results.filter((each) => each === event).length;
    if (times !== 1) return `the snapshot has ${times} results of event ${event}`;
  }
  return undefined;
}

/** What is published never changes. Only what lies below a removal goes, which stays itself. */
function changedHistory(before: World, after: World): string | undefined {
  const cut = removalOf(after)?.publication ?? 0;
  for (const [publication, entry] of Object.entries(before.log)) {
    const standing = after.log[Number(publication)];
    const isGone = standing === undefined && Number(publication) < cut;
    if (!isGone && !isSame(standing, entry)) return `publication ${publication} has changed`;
  }
  for (const { publication, snapshot } of publicationsOf(before)) {
    if (publication > cut && !isSame(after.snapshots[snapshot], before.snapshots[snapshot]))
      return `the published snapshot ${snapshot} has changed`;
  }
  if (after.views < before.views) return `views.sql goes back from ${before.views} to ${after.views}`;
  return undefined;
}

function wrongPublication(before: World, after: World, wasPaused: boolean): string | undefined {
  const head = headOf(before);
  const entry = headOf(after);
  if (entry === undefined || entry.publication === head?.publication) return undefined;
  const { action, snapshot, by, publication } = entry;
  if (before.published.includes(by)) return `${by} has published twice`;
  const content = after.snapshots[snapshot];
  if (content === undefined) return `publication ${publication} names a snapshot that is not there`;
  if (action === "run") {
    if (head?.pinned) return `${by} publishes over a pinned head`;
    if (head && head.snapshot >= snapshot) return `${by} publishes over the later snapshot ${head.snapshot}`;
    if (before.held[snapshot] && !wasPaused) return `${by} publishes a snapshot that is held`;
    if (head && (after.sizes[snapshot] ?? 0) < SMALLEST_SHARE * (after.sizes[head.snapshot] ?? 0))
      return `${by} publishes many fewer events than readers see`;
  }
  if (action === "accept" && head && head.snapshot > snapshot) return `${by} publishes an older snapshot`;
  if (action === "rollback" && !entry.pinned) return `${by} does not pin`;
  return wrongChanges(
    after,
    publication,
    snapshot,
    (head && after.snapshots[head.snapshot]) ?? null,
    content,
  );
}

/** The changes of a publication lead from what readers saw to what they see. */
function wrongChanges(
  { changes }: World,
  publication: number,
  snapshot: number,
  from: Content | null,
  to: Content,
): string | undefined {
  const written = changes[`${publication}/${snapshot}`] ?? changes[publication];
  if (written === undefined) return `publication ${publication} has no changes`;
  return isSame(written, { from, to })
    ? undefined
    : `the changes of publication ${publication} do not lead to it`;
}

/**
 * Tables show what is published. What `events` names is in the other tables as well. Glue has no condition: a process
 * that was paused may show for a moment what a removal has cut off, until it reads the log again.
 */
function wrongTables(world: World): string | undefined {
  const { glue, log, views } = world;
  const cut = removalOf(world)?.publication ?? 0;
  if (views > endOf(world).last) return "views.sql shows what is not published";
  for (const [publication, snapshot] of Object.entries(glue.changes)) {
    if (Number(publication) > cut && log[Number(publication)]?.snapshot !== snapshot)
      return `event_changes shows ${publication}, which is not published`;
  }
  const { events } = glue;
  if (events === null || events.publication < cut) return undefined;
  if (log[events.publication]?.snapshot !== events.snapshot) return "events shows what is not published";
  if (!glue.snapshots.includes(events.snapshot)) return "event_snapshots lacks what events shows";
  for (let publication = cut + 1; publication <= events.publication; publication += 1) {
    if (glue.changes[publication] === undefined) return `event_changes lacks publication ${publication}`;
  }
  return undefined;
}

/** An outcome never contradicts the log, nor what readers have seen of it. */
function wrongOutcome(world: World, wasPaused: boolean): string | undefined {
  for (const [run, outcome] of Object.entries(world.outcomes)) {
    const isPublished =
      outcome === "PUBLISHED"
        ? world.published.includes(`run ${run}`)
        : publicationsOf(world).some(({ action, snapshot }) => action === "run" && snapshot === Number(run));
    if (outcome === "HELD" && wasPaused) continue;
    if (isPublished !== (outcome === "PUBLISHED")) {
      return `run ${run} is recorded as ${outcome}, but the log ${isPublished ? "has" : "lacks"} its publication`;
    }
  }
  return undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
